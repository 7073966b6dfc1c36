import { settings, type ConfigEntry, type SettingKey } from '@zhisuan/contract/sys/sys'
import type { TFunction } from 'i18next'

type T = TFunction<'settings'>

export const isSetting = (key: string): key is SettingKey => Object.hasOwn(settings, key)

/** What a setting is called; those that the platform does not know by their keys. */
export const nameOf = (t: T, key: string): string => (isSetting(key) ? t(`setting.${key}.name`) : key)

/** A value as people read it. */
export function valueText(t: T, key: string, value: string): string {
  if (key === 'register_mode') {
    const choice = settings.register_mode.safeParse(value)
    if (choice.success) return t(`choice.register_mode.${choice.data}`)
  }
  return value === '' ? t('emptyValue') : value
}

/** Whether somebody set it. */
export const isSet = ({ updated_at }: ConfigEntry): boolean => updated_at !== null

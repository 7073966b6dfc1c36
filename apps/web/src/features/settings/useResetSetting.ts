import { configs, system, type ConfigEntry } from '@zhisuan/contract/sys/sys'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { isSet, nameOf, valueText } from './settingText.ts'

/** What is read anew once a setting was changed. */
export const invalidatedBySetting = [configs.list, configs.changes, system.info] as const

/** Sets a setting back to its default; of a free key, which has none, that is to delete it. */
export function useResetSetting(onDone?: (entry: ConfigEntry) => void): (entry: ConfigEntry) => Action {
  const { t } = useTranslation('settings')
  const reset = useChange(configs.reset, { invalidates: invalidatedBySetting })
  return (entry) => {
    const { key, value, default_value } = entry
    const name = nameOf(t, key)
    const run = async (): Promise<void> => {
      await reset.mutateAsync({ query: { key } })
      onDone?.(entry)
    }
    if (default_value === null) {
      return {
        key: 'reset',
        call: configs.reset,
        label: t('remove'),
        danger: true,
        confirm: { title: t('removeTitle', { name }), body: t('removeBody') },
        doneText: t('removeDone', { name }),
        run,
      }
    }
    return {
      key: 'reset',
      call: configs.reset,
      label: t('reset'),
      danger: true,
      disabledReason: isSet(entry) ? null : t('alreadyDefault'),
      confirm: { title: t('resetTitle', { name }), body: t('resetBody', { value: valueText(t, key, value), default: valueText(t, key, default_value) }) },
      doneText: t('resetDone', { name }),
      run,
    }
  }
}

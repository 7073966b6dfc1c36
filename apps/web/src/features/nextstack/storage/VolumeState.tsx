import type { Volume } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { StateTag } from './StateTag.tsx'
import { volumeTones } from './storageRules.ts'
import './storage.css'

export function VolumeState({ volume }: { readonly volume: Pick<Volume, 'status' | 'error'> }) {
  const { t } = useTranslation('storage')
  return (
    <StateTag
      tone={volumeTones[volume.status]}
      text={t(`volume.status.${volume.status}`)}
      reason={volume.error ?? (volume.status === 'lost' ? t('volume.lostReason') : null)}
    />
  )
}

/** The instance that has it, and where it is mounted there. */
export function AttachedTo({ volume }: { readonly volume: Pick<Volume, 'attached_to'> }) {
  const { t } = useTranslation('storage')
  if (volume.attached_to === null) return format.nothing
  const { vm, path } = volume.attached_to
  return (
    <>
      <Link to={paths.nextstack.vm.detail(vm.id)} className="zs-cut st-cut" title={vm.name}>
        {vm.name}
      </Link>
      <div className="zs-name-note">
        {path === null ? (
          t('volume.asDisk')
        ) : (
          <span className="zs-code zs-cut st-cut" title={path}>
            {path}
          </span>
        )}
      </div>
    </>
  )
}

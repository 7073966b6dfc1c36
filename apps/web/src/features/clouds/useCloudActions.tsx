import { clouds, type Cloud } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import type { Action } from '../../kit/actions.tsx'
import { cloudMoves, invalidatedByCloud, whyNotCloud, type CloudMove } from './cloudRules.ts'
import { CloudDrawer } from './CloudDrawer.tsx'

/** What an administrator can do to a cloud. */
export function useCloudActions(): (cloud: Cloud) => readonly Action[] {
  const { t } = useTranslation(['clouds', 'shell'])
  const act = useChange(clouds.action, { invalidates: invalidatedByCloud })
  const remove = useChange(clouds.delete, { invalidates: invalidatedByCloud })
  const of = (cloud: Cloud) => ({ params: { id: cloud.cloud_id } })

  const move = (name: CloudMove, cloud: Cloud): Action => ({
    key: name,
    call: clouds.action,
    label: t(`action.${name}`),
    danger: name === 'takeOffline',
    disabledReason: whyNotCloud(t, name, cloud),
    confirm: { title: t('confirm.title', { action: t(`action.${name}`), name: cloud.name }), body: t(`confirm.${name}`) },
    doneText: t(`done.${name}`, { name: cloud.name }),
    run: () => act.mutateAsync({ ...of(cloud), body: { action: cloudMoves[name] } }),
  })

  return (cloud) => {
    const force = cloud.instance_count > 0
    return [
      {
        key: 'edit',
        call: clouds.update,
        label: t('action.edit'),
        dialog: (close) => <CloudDrawer cloud={cloud} onClose={close} />,
      },
      {
        key: 'refresh',
        call: clouds.action,
        label: t('action.refresh'),
        doneText: t('done.refresh', { name: cloud.name }),
        run: () => act.mutateAsync({ ...of(cloud), body: { action: 'refresh' } }),
      },
      move('maintain', cloud),
      move('activate', cloud),
      move('takeOffline', cloud),
      {
        key: 'delete',
        call: clouds.delete,
        label: t('action.delete'),
        danger: true,
        confirm: {
          title: t('confirm.title', { action: t('action.delete'), name: cloud.name }),
          body: (
            <>
              {force && <p>{t('confirm.deleteForce', { count: cloud.instance_count })}</p>}
              <p>{t('confirm.delete')}</p>
            </>
          ),
          ...(force && { typeToConfirm: cloud.name }),
        },
        doneText: t('done.delete', { name: cloud.name }),
        run: () => remove.mutateAsync({ ...of(cloud), query: { force: force ? 'true' : 'false' } }),
      },
    ]
  }
}

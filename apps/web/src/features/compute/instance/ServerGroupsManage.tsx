import Button from 'antd/es/button'
import Modal from 'antd/es/modal'
import Table from 'antd/es/table'
import { serverGroups, type ServerGroup } from '@zhisuan/contract/compute/instance'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { ConfirmDialog } from '../../../kit/ConfirmDialog.tsx'
import { useCloudLines } from '../CloudTable.tsx'
import { Trouble } from '../Trouble.tsx'

/** Server groups of the cloud, to be seen and deleted: they count against a quota. */
export function ServerGroupsManage({ cloudId, onDeleted }: { readonly cloudId: string; readonly onDeleted: (id: string) => void }) {
  const { t } = useTranslation('computeInstance')
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('add.serverGroups')}</Button>
      {open && <ServerGroups cloudId={cloudId} onDeleted={onDeleted} onClose={() => setOpen(false)} />}
    </>
  )
}

function ServerGroups({ cloudId, onDeleted, onClose }: { readonly cloudId: string; readonly onDeleted: (id: string) => void; readonly onClose: () => void }) {
  const { t } = useTranslation('computeInstance')
  const [deleting, setDeleting] = useState<ServerGroup | null>(null)
  const groups = useCloudLines(serverGroups.list, cloudId)
  const remove = useChange(serverGroups.delete, { invalidates: [serverGroups.list] })
  const policyText = (policy: string): string => t(`add.policyOf.${policy as 'affinity'}`, { defaultValue: policy })
  const go = async ({ id, name }: ServerGroup): Promise<void> => {
    await remove.mutateAsync({ params: { cloud_id: cloudId, id } })
    setDeleting(null)
    onDeleted(id)
    notify('success', t('add.groupDeleted', { name }))
  }
  return (
    <Modal open title={t('add.serverGroups')} footer={null} onCancel={onClose} width={640}>
      <Trouble of={[groups]} />
      <Table<ServerGroup>
        size="small"
        rowKey="id"
        loading={groups.isFetching && groups.data === undefined}
        dataSource={groups.data?.items ?? []}
        pagination={{ pageSize: 10, hideOnSinglePage: true }}
        locale={{ emptyText: t('add.serverGroupsEmpty') }}
        columns={[
          { title: t('add.groupName'), dataIndex: 'name', key: 'name' },
          { title: t('add.policy'), key: 'policy', render: (_, { policy }) => policyText(policy) },
          {
            title: t('add.groupMembers'),
            key: 'members',
            align: 'right',
            render: (_, { member_ids }) => <span className="zs-number">{member_ids.length}</span>,
          },
          {
            title: t('add.groupActions'),
            key: 'actions',
            render: (_, group) => (
              <Button type="link" size="small" danger aria-label={t('add.groupDeleteOf', { name: group.name })} onClick={() => setDeleting(group)}>
                {t('add.groupDelete')}
              </Button>
            ),
          },
        ]}
      />
      {deleting !== null && (
        <ConfirmDialog
          danger
          confirmation={{ title: t('add.groupDeleteTitle', { name: deleting.name }), body: t('add.groupDeleteBody', { count: deleting.member_ids.length }) }}
          okText={t('add.groupDelete')}
          onConfirm={() => go(deleting)}
          onCancel={() => setDeleting(null)}
        />
      )}
    </Modal>
  )
}

import Table from 'antd/es/table'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeInstances, type ComputeInstanceDetail } from '@zhisuan/contract/compute/instance'
import { computeVolumes } from '@zhisuan/contract/compute/volume'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { useDialog } from '../../../kit/dialogs.tsx'
import { useChange } from '../../../api/hooks.ts'
import { ActionMenu } from '../../../kit/actions.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { Field } from '../../../kit/fields.tsx'
import * as format from '../../../kit/format.ts'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { paths } from '../../../paths.ts'
import { volumeChoice } from './choices.ts'
import { CloudSelect } from './CloudSelect.tsx'
import { whyNotInstance, invalidatedByInstance } from './instanceRules.ts'
import { AttachButton } from './InterfacesTab.tsx'

type Attached = ComputeInstanceDetail['volumes'][number]
interface Of {
  readonly instance: ComputeInstanceDetail
  readonly cloud: CloudBasic
}

const touched = [...invalidatedByInstance, computeVolumes.list, computeVolumes.get]
/** The disk that an instance was started from, where it lies on a volume. */
const isRoot = (instance: ComputeInstanceDetail, one: Attached): boolean => instance.image_id === null && /^\/dev\/[a-z]*da$/.test(one.device)

/** Volumes that an instance has. */
export function VolumesTab({ instance, cloud }: Of) {
  const { t } = useTranslation('computeInstance')
  const openDialog = useDialog()
  const detach = useChange(computeInstances.detachVolume, { invalidates: touched })
  const off = whyNotInstance(t, 'attachVolume', instance, cloud)
  const cannotDetach = whyNotInstance(t, 'detachVolume', instance, cloud)
  const nameOf = ({ name, volume_id }: Attached): string => (name === '' ? volume_id : name)
  return (
    <>
      <p>
        <AttachButton
          off={off}
          text={t('volumes.attach')}
          onClick={() => openDialog((close) => <Attach instance={instance} cloud={cloud} onClose={close} />)}
        />
      </p>
      <Table<Attached>
        size="small"
        rowKey="volume_id"
        pagination={false}
        dataSource={[...instance.volumes]}
        locale={{ emptyText: <EmptyState title={t('volumes.empty')}>{instance.image_id !== null && t('volumes.emptyNote')}</EmptyState> }}
        columns={[
          { key: 'volume', title: t('volumes.column.volume'), render: (_, one) => <Link to={paths.compute.volume.detail(one.volume_id)}>{nameOf(one)}</Link> },
          { key: 'size', title: t('volumes.column.size'), align: 'right', className: 'zs-number', render: (_, one) => format.bytes(one.size_bytes) },
          { key: 'type', title: t('volumes.column.type'), render: (_, one) => one.volume_type ?? format.nothing },
          {
            key: 'device',
            title: t('volumes.column.device'),
            render: (_, one) => <span className="zs-code">{one.device === '' ? format.nothing : one.device}</span>,
          },
          { key: 'with', title: t('volumes.column.withServer'), render: (_, one) => t(one.delete_on_termination ? 'volumes.yes' : 'volumes.no') },
          {
            key: 'actions',
            title: t('interfaces.column.actions'),
            render: (_, one) => (
              <ActionMenu
                label={nameOf(one)}
                actions={[
                  {
                    key: 'detach',
                    call: computeInstances.detachVolume,
                    label: t('volumes.detach'),
                    danger: true,
                    disabledReason: isRoot(instance, one) ? t('volumes.root') : cannotDetach,
                    confirm: { title: t('volumes.detachTitle', { name: nameOf(one) }), body: t('volumes.detachNote') },
                    doneText: t('volumes.detachDone'),
                    run: () => detach.mutateAsync({ params: { cloud_id: cloud.cloud_id, id: instance.id, volume_id: one.volume_id } }),
                  },
                ]}
              />
            ),
          },
        ]}
      />
    </>
  )
}

function Attach({ instance, cloud, onClose }: Of & { readonly onClose: () => void }) {
  const { t } = useTranslation('computeInstance')
  const attach = useChange(computeInstances.attachVolume, { invalidates: touched, silent: true })
  return (
    <FormDialog<{ volume_id: string }>
      title={t('volumes.title', { name: instance.name })}
      okText={t('volumes.ok')}
      initialValues={{}}
      doneText={t('volumes.done')}
      onClose={onClose}
      onSubmit={(body) => attach.mutateAsync({ params: { cloud_id: cloud.cloud_id, id: instance.id }, body })}
    >
      <Field name="volume_id" label={t('volumes.volume')} extra={t('volumes.volumeNote')} schema={computeInstances.attachVolume.body.shape.volume_id}>
        <CloudSelect
          call={computeVolumes.list}
          cloudId={cloud.cloud_id}
          label={t('volumes.volume')}
          choiceOf={volumeChoice}
          only={({ status, keystone_project_id }) => status === 'available' && keystone_project_id === instance.keystone_project_id}
          none={t('volumes.noneFree')}
        />
      </Field>
    </FormDialog>
  )
}

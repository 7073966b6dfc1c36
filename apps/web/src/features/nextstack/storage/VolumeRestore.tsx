import { ActionButton } from '../../../kit/actions.tsx'
import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import Input from 'antd/es/input'
import { vms } from '@zhisuan/contract/nextstack/vm'
import { volumes, volumeSnapshots, type Volume, type VolumeSnapshot } from '@zhisuan/contract/nextstack/volume'
import { useState, type ReactNode } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams, useSearchParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { toApiError } from '../../../api/client.ts'
import { useOne, useCall, useChange } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { errorText } from '../../../api/toasts.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import * as format from '../../../kit/format.ts'
import { PagePlaceholder } from '../../../kit/Placeholder.tsx'
import { paths } from '../../../paths.ts'
import { useCloud } from '../../../session/cloud.ts'
import { CloudNotice } from '../CloudNotice.tsx'
import { BackupTable } from './BackupTable.tsx'
import { VolumeKeep } from './NameDialogs.tsx'
import { SnapshotLine } from './SnapshotLine.tsx'
import { invalidatedByVolume, whyNotVolume, isPassing, volumeGone } from './storageRules.ts'
import { VolumeState } from './VolumeState.tsx'
import './storage.css'
import '../../../kit/form.css'

/** Sets a volume back to one of its snapshots, or makes another from one of its backups. */
export default function VolumeRestore() {
  const { t } = useTranslation('storage')
  const { id = '' } = useParams()
  const query = useOne(volumes.get, { params: { id } }, { refreshMs: (volume) => whilePassing(volume, isPassing) })
  const cloud = useCloud(query.data?.cloud_id)
  return (
    <DetailPage
      query={query}
      gone={volumeGone(t)}
      title={(volume) => t('restore.title', { name: volume.name })}
      status={(volume) => <VolumeState volume={volume} />}
      notice={(volume) => (
        <>
          <CloudNotice cloud={cloud} />
          <InUse volume={volume} />
        </>
      )}
      tabs={(volume) => [
        { key: 'snapshot', label: t('restore.fromSnapshot'), content: <FromSnapshot volume={volume} refused={whyNotVolume(t, 'restore', volume, cloud)} /> },
        {
          key: 'backup',
          label: t('restore.fromBackup'),
          content: (
            <>
              <p className="zs-soft">{t('restore.backupNote')}</p>
              <BackupTable cloud={cloud} volume={volume} />
            </>
          ),
        },
      ]}
    />
  )
}

/** Most pools do not set back what a running instance writes to. */
function InUse({ volume }: { readonly volume: Volume }) {
  const { t } = useTranslation('storage')
  const vm = useCall(
    vms.get,
    { params: { id: volume.attached_to?.vm.id ?? '' } },
    { enabled: volume.attached_to !== null, silent: true, refreshMs: 5_000 },
  ).data
  if (volume.attached_to === null || vm?.status !== 'running') return null
  return (
    <Alert
      className="zs-above"
      type="warning"
      showIcon
      title={t('restore.running', { vm: vm.name })}
      description={t('restore.runningNote')}
      action={<Link to={paths.nextstack.vm.detail(vm.id)}>{t('restore.toVm')}</Link>}
    />
  )
}

function FromSnapshot({ volume, refused }: { readonly volume: Volume; readonly refused: string | null }) {
  const { t } = useTranslation('storage')
  const [search] = useSearchParams()
  const [chosen, setChosen] = useState(search.get('snapshot'))
  const { data, error, refetch } = useCall(
    volumeSnapshots.list,
    { query: { volume_id: volume.id, page_size: 1000, sort: '-created_at' } },
    { silent: true, refreshMs: (list) => whilePassing(list?.items, isPassing) },
  )
  if (data === undefined) return error === null ? <PagePlaceholder /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  const snapshot = data.items.find(({ id, status }) => id === chosen && status === 'available')
  const keep = (
    <ActionButton
      look="default"
      action={{
        key: 'keep',
        call: volumeSnapshots.create,
        label: t('restore.keepFirst'),
        disabledReason: whyNotVolume(t, 'snapshot', volume, null),
        dialog: (close) => <VolumeKeep volume={volume} kind="snapshot" onClose={close} />,
      }}
    />
  )
  return (
    <>
      {data.items.length === 0 ? (
        <EmptyState title={t('snapshot.none')} action={keep}>
          {t('restore.noneNote')}
        </EmptyState>
      ) : (
        <div className="st-restore">
          <section aria-labelledby="restore-line">
            <h2 className="zs-heading" id="restore-line">
              {t('restore.choose')}
            </h2>
            <SnapshotLine snapshots={data.items} chosen={snapshot?.id ?? null} onChoose={setChosen} />
          </section>
          <section aria-labelledby="restore-what">
            <h2 className="zs-heading" id="restore-what">
              {t('restore.what')}
            </h2>
            {snapshot === undefined ? (
              <p className="zs-soft">{t('restore.chooseFirst')}</p>
            ) : (
              <Confirm key={snapshot.id} volume={volume} snapshot={snapshot} refused={refused} keep={keep} />
            )}
          </section>
        </div>
      )}
    </>
  )
}

/** Says what will be lost, and asks for the volume's name before it is. */
function Confirm({
  volume,
  snapshot,
  refused,
  keep,
}: {
  readonly volume: Volume
  readonly snapshot: VolumeSnapshot
  readonly refused: string | null
  readonly keep: ReactNode
}) {
  const { t } = useTranslation('storage')
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [failure, setFailure] = useState<string | null>(null)
  const restore = useChange(volumes.restore, { invalidates: invalidatedByVolume, silent: true })
  const ready = typed.trim() === volume.name && refused === null

  const go = (): void => {
    if (!ready) return
    setFailure(null)
    restore.mutate(
      { params: { id: volume.id }, body: { snapshot_id: snapshot.id } },
      {
        onSuccess: () => {
          notify('success', t('done.restore', { name: volume.name, snapshot: snapshot.name }))
          void navigate(paths.nextstack.volume.detail(volume.id))
        },
        onError: (error) => setFailure(errorText(toApiError(error))),
      },
    )
  }
  return (
    <>
      <Alert
        className="zs-above"
        type="warning"
        showIcon
        title={t('restore.lost', { at: format.dateTime(snapshot.created_at), ago: format.duration(Date.now() - Date.parse(snapshot.created_at)) })}
        description={t('restore.kept')}
      />
      <p>{keep}</p>
      <Form noValidate layout="vertical" onFinish={go}>
        <Form.Item
          label={
            <>
              {t('restore.type')}
              <strong className="st-typed">{volume.name}</strong>
            </>
          }
          htmlFor="restore-typed"
        >
          <Input id="restore-typed" className="zs-field" autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />
        </Form.Item>
        <div aria-live="polite">{(failure ?? refused) !== null && <Alert className="zs-above" type="error" showIcon title={failure ?? refused} />}</div>
        <Button type="primary" danger htmlType="submit" disabled={!ready} loading={restore.isPending}>
          {t('restore.ok', { name: snapshot.name })}
        </Button>
      </Form>
    </>
  )
}

import Button from 'antd/es/button'
import { keyPairs, type KeyPair } from '@zhisuan/contract/nextstack/key-pair'
import { useTranslation } from '../../../i18n.ts'
import { useDialog } from '../../../kit/dialogs.tsx'
import { col } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import { KeyPairDialog } from './KeyPairDialog.tsx'
import { useKeyPaths } from './keyPaths.ts'
import { algorithmText } from './keyTexts.ts'
import { PrivateKeyDialog } from './PrivateKeyDialog.tsx'
import { useKeyPairActions } from './useKeyPairActions.tsx'

/** SSH keys of the organisation. */
export default function KeyPairList() {
  const { t } = useTranslation('nextstackCompute')
  const platform = useIsPlatform()
  const keyPaths = useKeyPaths()
  const openDialog = useDialog()
  const actionsOf = useKeyPairActions()
  const make = (kind: 'generate' | 'import'): void =>
    openDialog((close) => (
      <KeyPairDialog
        kind={kind}
        keyPair={null}
        onClose={close}
        onMade={(made) => made.private_key !== null && openDialog((done) => <PrivateKeyDialog made={made} onClose={done} />)}
      />
    ))
  const create = (
    <>
      <Button type="primary" onClick={() => make('generate')}>
        {t('keyPair.generate')}
      </Button>
      <Button onClick={() => make('import')}>{t('keyPair.import')}</Button>
    </>
  )
  return (
    <ResourceTable
      call={keyPairs.list}
      columns={[
        col.name<KeyPair>('name', t('column.name'), ({ name }) => name, {
          sort: true,
          to: ({ id }) => keyPaths.detail(id),
          note: ({ description }) => description,
        }),
        col.text<KeyPair>('algorithm', t('keyPair.column.algorithm'), ({ algorithm }) => algorithmText(t, algorithm), { sort: true, width: 120 }),
        col.code<KeyPair>('fingerprint', t('keyPair.column.fingerprint'), ({ fingerprint }) => fingerprint, { width: 224 }),
        col.text<KeyPair>('source', t('keyPair.column.source'), ({ generated }) => t(`keyPair.source.${generated ? 'generated' : 'imported'}`), {
          width: 100,
        }),
        col.number<KeyPair>('vms', t('column.vms'), ({ vm_count }) => vm_count, { width: 90 }),
        col.organisation<KeyPair>(t('column.organisation'), { when: platform }),
        col.text<KeyPair>('created_by', t('column.creator'), ({ created_by }) => created_by, { width: 110, off: true }),
        col.date<KeyPair>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
      ]}
      filters={[filter.keyword(t('keyPair.filter.keyword'))]}
      rowActions={actionsOf}
      toolbar={create}
      empty={{ title: t('keyPair.empty'), note: t('keyPair.emptyNote'), action: <span className="zs-buttons">{create}</span> }}
    />
  )
}

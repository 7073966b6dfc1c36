import Button from 'antd/es/button'
import { keyPairs, type KeyPair } from '@zhisuan/contract/nextstack/key-pair'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { col } from '../../../kit/columns.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { filter } from '../../../kit/filters.ts'
import { ResourceTable } from '../../../kit/ResourceTable.tsx'
import { useIsPlatform } from '../../../session/user.ts'
import '../nextstack.css'
import '../compute.css'
import { KeyPairDialog, type MadeKeyPair } from './KeyPairDialog.tsx'
import { useKeyPaths } from './keyPaths.ts'
import { algorithmText } from './keyTexts.ts'
import { PrivateKeyDialog } from './PrivateKeyDialog.tsx'
import { useKeyPairActions } from './useKeyPairActions.tsx'

/** SSH keys of the organisation. */
export default function KeyPairList() {
  const { t } = useTranslation('nextstackCompute')
  const platform = useIsPlatform()
  const keyPaths = useKeyPaths()
  const [dialog, setDialog] = useState<{ kind: 'generate' | 'import' } | { kind: 'edit'; keyPair: KeyPair } | null>(null)
  const [made, setMade] = useState<MadeKeyPair | null>(null)
  const actionsOf = useKeyPairActions((keyPair) => setDialog({ kind: 'edit', keyPair }))
  const create = (
    <>
      <Button type="primary" onClick={() => setDialog({ kind: 'generate' })}>
        {t('keyPair.generate')}
      </Button>
      <Button onClick={() => setDialog({ kind: 'import' })}>{t('keyPair.import')}</Button>
    </>
  )
  return (
    <>
      <ResourceTable
        call={keyPairs.list}
        rows={({ items }) => items}
        rowKey="id"
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
          ...(platform ? [col.text<KeyPair>('bp', t('column.organisation'), ({ bp_name }) => bp_name, { width: 120 })] : []),
          col.text<KeyPair>('created_by', t('column.creator'), ({ created_by }) => created_by, { width: 110, off: true }),
          col.date<KeyPair>('created_at', t('column.created'), ({ created_at }) => created_at, { sort: true }),
        ]}
        filters={[filter.keyword(t('keyPair.filter.keyword'))]}
        rowActions={actionsOf}
        toolbar={create}
        empty={
          <EmptyState title={t('keyPair.empty')} action={<span className="nc-buttons">{create}</span>}>
            {t('keyPair.emptyNote')}
          </EmptyState>
        }
      />
      {dialog !== null && (
        <KeyPairDialog
          kind={dialog.kind}
          keyPair={dialog.kind === 'edit' ? dialog.keyPair : null}
          onClose={() => setDialog(null)}
          onMade={(key) => key.private_key !== null && setMade(key)}
        />
      )}
      {made !== null && <PrivateKeyDialog made={made} onClose={() => setMade(null)} />}
    </>
  )
}

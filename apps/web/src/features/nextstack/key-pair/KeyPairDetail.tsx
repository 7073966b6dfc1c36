import Button from 'antd/es/button'
import Typography from 'antd/es/typography'
import type { ResponseOf } from '@zhisuan/contract/define'
import { keyPairs } from '@zhisuan/contract/nextstack/key-pair'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link, useNavigate, useParams } from 'react-router'
import { useOne } from '../../../api/hooks.ts'
import { copyText } from '../../../kit/copy.ts'
import { DetailPage } from '../../../kit/DetailPage.tsx'
import * as format from '../../../kit/format.ts'
import { paths } from '../../../paths.ts'
import { useIsPlatform } from '../../../session/user.ts'
import '../compute.css'
import { downloadText } from '../../../kit/save.ts'
import { useKeyPaths } from './keyPaths.ts'
import { algorithmText } from './keyTexts.ts'
import { useKeyPairActions } from './useKeyPairActions.tsx'

/** One key: its public half, how to recognise it, and the instances that it was put into. */
export default function KeyPairDetail() {
  const { t } = useTranslation('nextstackCompute')
  const navigate = useNavigate()
  const platform = useIsPlatform()
  const keyPaths = useKeyPaths()
  const { id = '' } = useParams()
  const [deleted, setDeleted] = useState(false)
  const query = useOne(keyPairs.get, { params: { id } }, { enabled: !deleted, refreshMs: 10_000 })
  const actionsOf = useKeyPairActions(() => {
    setDeleted(true)
    void navigate(keyPaths.list())
  })
  const code = (text: string) => (
    <Typography.Text copyable={{ text, tooltips: false }} className="zs-code nc-wrap">
      {text}
    </Typography.Text>
  )
  return (
    <>
      <DetailPage
        query={query}
        gone={{ title: t('keyPair.detail.gone'), to: keyPaths.list(), back: t('keyPair.detail.back') }}
        title={({ name }) => name}
        actions={actionsOf}
        facts={(key) => [
          { key: 'algorithm', label: t('keyPair.column.algorithm'), value: algorithmText(t, key.algorithm) },
          { key: 'source', label: t('keyPair.column.source'), value: t(`keyPair.source.${key.generated ? 'generated' : 'imported'}`) },
          { key: 'sha256', label: t('keyPair.detail.sha256'), value: code(key.fingerprint) },
          { key: 'md5', label: t('keyPair.detail.md5'), value: code(key.fingerprint_md5) },
          ...(platform ? [{ key: 'bp', label: t('column.organisation'), value: key.bp_name ?? format.nothing }] : []),
          { key: 'creator', label: t('column.creator'), value: key.created_by },
          { key: 'created', label: t('column.created'), value: format.dateTime(key.created_at) },
          { key: 'updated', label: t('keyPair.detail.updated'), value: format.dateTime(key.updated_at) },
          { key: 'description', label: t('column.description'), value: key.description === '' ? format.nothing : key.description },
        ]}
      >
        {(key) => (
          <>
            <section className="zs-card">
              <h2 className="zs-heading">{t('keyPair.detail.publicKey')}</h2>
              <pre className="nc-code nc-wrap" tabIndex={0} role="region" aria-label={t('keyPair.detail.publicKey')}>
                {key.public_key}
              </pre>
              <p className="zs-buttons">
                <Button onClick={() => void copyText(key.public_key)}>{t('keyPair.copyPublic')}</Button>
                <Button onClick={() => downloadText(`${key.name}.pub`, `${key.public_key}\n`)}>{t('keyPair.downloadPublic')}</Button>
              </p>
            </section>
            <section className="zs-card">
              <h2 className="zs-heading">{t('keyPair.detail.vms')}</h2>
              <Vms of={key} />
            </section>
          </>
        )}
      </DetailPage>
    </>
  )
}

function Vms({ of: { vms, vm_count } }: { readonly of: ResponseOf<typeof keyPairs.get> }) {
  const { t } = useTranslation('nextstackCompute')
  if (vms.length === 0) return <p className="zs-soft">{t('keyPair.detail.vmsNone')}</p>
  return (
    <>
      <ul className="nc-names">
        {vms.map(({ id, name }) => (
          <li key={id}>
            <Link to={paths.nextstack.vm.detail(id)} className="zs-text-link">
              {name}
            </Link>
          </li>
        ))}
      </ul>
      {vm_count > vms.length && <p className="zs-soft">{t('keyPair.detail.vmsMore', { count: vm_count - vms.length })}</p>}
    </>
  )
}

import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Descriptions from 'antd/es/descriptions'
import QRCode from 'antd/es/qr-code'
import Steps from 'antd/es/steps'
import { edges, type EdgeDetail, type EdgeStatus, type Enrolment } from '@zhisuan/contract/ecrm/edge'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { Gone } from '../../kit/Gone.tsx'
import { useCall, useChange } from '../../api/hooks.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { copyText } from '../../kit/copy.ts'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths } from '../../paths.ts'
import './edge.css'
import { onlyHere, invalidatedByEdge, nodeGone } from './edgeRules.ts'

const steps = { pending: 1, unbound: 1, unconfirmed: 2, offline: 3, online: 3 } as const satisfies Readonly<Record<EdgeStatus, number>>

/**
 * How a registered node comes in: its command, whether its agent has come, and the question whether
 * it is the right one. Follows by itself.
 */
export function NodeEnrol({
  id,
  enrolment,
  onTold,
}: {
  readonly id: string
  readonly enrolment: Enrolment | null
  readonly onTold: (enrolment: Enrolment) => void
}) {
  const { t } = useTranslation('edge')
  const {
    data: edge,
    error,
    refetch,
  } = useCall(edges.get, { params: { id } }, { silent: true, refreshMs: (one) => (one?.status === 'online' ? 5_000 : 2_000) })
  usePageTitle(edge === undefined ? null : t('enrol.title', { name: edge.name }))
  if (edge === undefined) {
    if (error === null) return <PagePlaceholder />
    if (error.status === 404) return <Gone {...nodeGone(t)} />
    return (
      <div className="zs-card">
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  const step = steps[edge.status]
  return (
    <>
      <div className="zs-card">
        <Steps
          size="small"
          current={step}
          items={[{ title: t('enrol.registered') }, { title: t('enrol.run') }, { title: t('enrol.confirm') }, { title: t('enrol.done') }]}
        />
      </div>
      <div className="zs-card" aria-live="polite">
        {step === 1 && <Waiting edge={edge} enrolment={enrolment} onTold={onTold} />}
        {step === 2 && <Came edge={edge} />}
        {step === 3 && <Done edge={edge} />}
      </div>
    </>
  )
}

function Waiting({
  edge,
  enrolment,
  onTold,
}: {
  readonly edge: EdgeDetail
  readonly enrolment: Enrolment | null
  readonly onTold: (enrolment: Enrolment) => void
}) {
  const { t } = useTranslation('edge')
  const renew = useChange(edges.qrcode, { onDone: onTold })
  const again = (
    <Button type={enrolment === null ? 'primary' : 'default'} loading={renew.isPending} onClick={() => renew.mutate({ params: { id: edge.id } })}>
      {t('enrol.renew')}
    </Button>
  )
  if (enrolment === null) {
    return (
      <EmptyState title={t('enrol.once')} action={again}>
        {t('enrol.onceNote')}
      </EmptyState>
    )
  }
  return (
    <div className="ed-enrol">
      <div className="ed-enrol-main">
        <h2 className="zs-heading">{t('enrol.commandTitle')}</h2>
        {onlyHere(enrolment) && <Alert className="zs-above" type="warning" showIcon title={t('enrol.onlyHere')} description={t('enrol.onlyHereNote')} />}
        <pre className="ed-command" tabIndex={0}>
          {enrolment.command}
        </pre>
        <div className="zs-state zs-state-wrap ed-line">
          <Button type="primary" onClick={() => void copyText(enrolment.command)}>
            {t('enrol.copy')}
          </Button>
          {again}
        </div>
        <p className="zs-soft">{t('enrol.expires', { time: format.dateTime(enrolment.expires_at) })}</p>
        <p role="status">
          <StatusTag tone="busy">{t('enrol.waiting')}</StatusTag>
        </p>
        <h2 className="zs-heading">{t('enrol.nothing')}</h2>
        <ul className="zs-soft">
          {(['run', 'reach', 'proxy', 'expired', 'log'] as const).map((step) => (
            <li key={step}>{t(`enrol.nothingSteps.${step}`, { url: new URL(enrolment.url).searchParams.get('server') ?? '' })}</li>
          ))}
        </ul>
      </div>
      <figure className="ed-qr">
        <QRCode value={enrolment.url} type="svg" size={176} aria-label={t('enrol.qr')} />
        <figcaption className="zs-soft">{t('enrol.qr')}</figcaption>
      </figure>
    </div>
  )
}

function Came({ edge }: { readonly edge: EdgeDetail }) {
  const { t } = useTranslation('edge')
  const confirm = useChange(edges.confirm, { invalidates: invalidatedByEdge })
  const unbind = useChange(edges.unbind, { invalidates: invalidatedByEdge })
  return (
    <>
      <Alert className="zs-above" type="warning" showIcon title={t('enrol.cameTitle')} description={t('enrol.cameNote')} />
      <Descriptions
        size="small"
        column={1}
        items={[
          { key: 'host', label: t('fact.host'), children: edge.host_name ?? t('enrol.asking') },
          { key: 'fingerprint', label: t('fact.fingerprint'), children: <span className="zs-code">{edge.fingerprint ?? format.nothing}</span> },
          { key: 'addresses', label: t('column.addresses'), children: <span className="zs-code">{edge.addresses.join('、') || format.nothing}</span> },
          { key: 'os', label: t('column.os'), children: edge.os ?? format.nothing },
          { key: 'agent', label: t('column.agent'), children: edge.agent_version ?? format.nothing },
        ]}
      />
      <ActionMenu
        look="default"
        label={edge.name}
        actions={[
          {
            key: 'confirm',
            call: edges.confirm,
            label: t('enrol.confirmOk'),
            doneText: t('enrol.confirmed', { name: edge.name }),
            run: () => confirm.mutateAsync({ params: { id: edge.id }, body: { what: 'enrolment' } }),
          },
          {
            key: 'refuse',
            call: edges.unbind,
            label: t('enrol.refuse'),
            danger: true,
            confirm: { title: t('enrol.refuseTitle'), body: t('enrol.refuseBody') },
            doneText: t('enrol.refused'),
            run: () => unbind.mutateAsync({ body: { ids: [edge.id] } }),
          },
        ]}
      />
    </>
  )
}

function Done({ edge }: { readonly edge: EdgeDetail }) {
  const { t } = useTranslation('edge')
  const online = edge.status === 'online'
  return (
    <EmptyState
      title={t(online ? 'enrol.onlineTitle' : 'enrol.offlineTitle', { name: edge.name })}
      action={
        <span className="zs-state zs-state-wrap ed-line">
          {online && <Link to={paths.container.deployment.add()}>{t('enrol.deploy')}</Link>}
          <Link to={paths.container.node.detail(edge.id)}>{t('enrol.toNode')}</Link>
          <Link to={paths.container.node.add()}>{t('enrol.another')}</Link>
        </span>
      }
    >
      {t(online ? 'enrol.onlineNote' : 'enrol.offlineNote')}
    </EmptyState>
  )
}

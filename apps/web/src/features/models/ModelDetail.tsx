import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import Spin from 'antd/es/spin'
import Tabs from 'antd/es/tabs'
import { modelImports } from '@zhisuan/contract/models/import'
import { hubPath, memoryOf, modelCan, modelFiles, modelRevisions, models, type Model, type ModelFile, type ModelRevision } from '@zhisuan/contract/models/model'
import { cardMemories, cardsMost } from '@zhisuan/contract/market/offer'
import type { ResponseOf } from '@zhisuan/contract/define'
import { lazy, Suspense } from 'react'
import { Link, useNavigate, useParams, useSearchParams } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { useChange, useCall, useOne } from '../../api/hooks.ts'
import { ActionMenu, type Action } from '../../kit/actions.tsx'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import * as format from '../../kit/format.ts'
import { PagePlaceholder } from '../../kit/Placeholder.tsx'
import { saveFrom } from '../../kit/save.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { paths, withQuery } from '../../paths.ts'
import { useCurrentUser, useIsPlatform } from '../../session/user.ts'
import { ImportLine } from './ImportLine.tsx'
import { UnfinishedFiles } from './UnfinishedFiles.tsx'
import { modelTones, parametersText, useTerms } from './modelTexts.ts'
import './models.css'

const Prose = lazy(() => import('../../kit/Prose.tsx'))
const ModelDialog = lazy(() => import('./ModelDialog.tsx'))
const CommitDialog = lazy(() => import('./CommitDialog.tsx'))
const ImportDialog = lazy(() => import('./ImportDialog.tsx'))
const ReasonDialog = lazy(() => import('../../kit/ReasonDialog.tsx'))

type Detail = ResponseOf<typeof models.get>

/** One model: what it is, how it is had, its files and how they became so. */
export default function ModelDetail() {
  const { t } = useTranslation('models')
  const { id = '' } = useParams()
  const { data: model, error, refetch } = useOne(models.get, { params: { id } })
  const [search, setSearch] = useSearchParams()
  if (error?.status === 404)
    return (
      <div className="md-page">
        <h1 id="page-title" tabIndex={-1}>
          {t('detail')}
        </h1>
        <EmptyState
          title={t('gone')}
          action={
            <Link to={paths.warehouse.list()} className="zs-button zs-button-plain">
              {t('toList')}
            </Link>
          }
        >
          {t('goneNote')}
        </EmptyState>
      </div>
    )
  if (model === undefined)
    return <div className="md-page">{error === null ? <PagePlaceholder /> : <ErrorPanel error={error} onRetry={() => void refetch()} />}</div>
  return (
    <div className="md-page">
      <title>{`${model.title} · ${t('title')}`}</title>
      <meta name="description" content={model.summary} />
      <header className="md-head">
        <div>
          <h1 id="page-title" tabIndex={-1}>
            {model.title}
          </h1>
          <p className="zs-line">
            <CopyCode text={model.repository} />
            {model.mine && <StatusTag tone={modelTones[model.status]}>{t(`status.${model.status}`)}</StatusTag>}
          </p>
          {model.summary !== '' && <p className="md-lead">{model.summary}</p>}
        </div>
        {model.mine && <OwnActions model={model} />}
      </header>
      {model.rejected_reason !== null && <Alert className="zs-above" type="warning" showIcon title={t('rejectedBecause', { reason: model.rejected_reason })} />}
      {model.mine && model.published_revision !== null && (model.about_unreviewed || model.published_revision !== model.revision) && (
        <Alert className="zs-above" type="info" showIcon title={t('newerUnreviewed')} />
      )}
      {model.mine && <ImportLine modelId={model.id} />}
      {model.mine && <UnfinishedFiles model={model} />}
      <Terms model={model} />
      <div className="md-columns">
        <Tabs
          size="small"
          activeKey={search.get('tab') ?? 'card'}
          onChange={(tab) => setSearch(tab === 'card' ? {} : { tab }, { replace: true })}
          items={[
            {
              key: 'card',
              label: t('tab.card'),
              children:
                model.card === '' ? (
                  <EmptyState title={t('card.none')}>{t(model.mine ? 'card.noneMine' : 'card.noneNote')}</EmptyState>
                ) : (
                  <Suspense fallback={<Spin />}>
                    <Prose markdown={model.card} />
                  </Suspense>
                ),
            },
            { key: 'files', label: t('tab.files', { count: model.file_count }), children: <Files model={model} /> },
            { key: 'revisions', label: t('tab.revisions'), children: <Revisions model={model} /> },
          ]}
        />
        <Facts model={model} />
      </div>
    </div>
  )
}

function OwnActions({ model }: { readonly model: Detail }) {
  const { t } = useTranslation('models')
  const platform = useIsPlatform()
  const navigate = useNavigate()
  const how = { invalidates: [models.get, models.list, models.facets], silent: true } as const
  const submit = useChange(models.submit, how)
  const withdraw = useChange(models.withdraw, how)
  const review = useChange(models.review, how)
  const remove = useChange(models.delete, how)
  const params = { id: model.id }
  // As this page shows it: what comes meanwhile is not judged with it.
  const { revision, updated_at } = model
  const may = (which: keyof typeof modelCan): boolean => (modelCan[which] as readonly string[]).includes(model.status)
  const actions: readonly Action[] = [
    ...(platform && may('review') && revision !== null
      ? [
          {
            key: 'publish',
            call: models.review,
            label: t('action.publish'),
            doneText: t('published'),
            run: () => review.mutateAsync({ params, body: { accept: true, revision, updated_at } }),
          },
          {
            key: 'reject',
            call: models.review,
            label: t('action.reject'),
            dialog: (close: () => void) => (
              <ReasonDialog
                title={t('reject.title', { name: model.title })}
                missing={t('reject.missing')}
                okText={t('action.reject')}
                doneText={t('reject.done')}
                onReason={(reason) => review.mutateAsync({ params, body: { accept: false, revision, updated_at, reason } })}
                onClose={close}
              />
            ),
          },
        ]
      : []),
    { key: 'commit', call: modelRevisions.create, label: t('action.commit'), dialog: (close) => <CommitDialog model={model} onClose={close} /> },
    { key: 'import', call: modelImports.create, label: t('action.import'), dialog: (close) => <ImportDialog model={model} onClose={close} /> },
    ...(may('submit')
      ? [
          {
            key: 'submit',
            call: models.submit,
            label: t('action.submit'),
            disabledReason: model.file_count === 0 ? t('action.submitEmpty') : null,
            doneText: t('submitted'),
            run: () => submit.mutateAsync({ params }),
          },
        ]
      : []),
    { key: 'edit', call: models.update, label: t('action.edit'), dialog: (close) => <ModelDialog model={model} terms={model.terms} onClose={close} /> },
    ...(may('withdraw') || model.published_revision !== null
      ? [
          {
            key: 'withdraw',
            call: models.withdraw,
            label: t('action.withdraw'),
            confirm: { title: t('withdraw.title', { name: model.title }), body: t('withdraw.body') },
            run: () => withdraw.mutateAsync({ params }),
          },
        ]
      : []),
    {
      key: 'delete',
      call: models.delete,
      label: t('action.delete'),
      danger: true,
      confirm: {
        title: t('delete.title', { name: model.title }),
        body: t('delete.body', { count: model.file_count, size: format.bytes(model.size_bytes) }),
        typeToConfirm: model.name,
      },
      doneText: t('delete.done', { name: model.title }),
      run: async () => {
        await remove.mutateAsync({ params })
        void navigate(`${paths.warehouse.list()}?view=mine`)
      },
    },
  ]
  return <ActionMenu actions={actions} look="default" shown={3} />
}

function Terms({ model }: { readonly model: Detail }) {
  const { t } = useTranslation('models')
  const signedIn = useCurrentUser() !== null
  const accept = useChange(models.accept, { invalidates: [models.get] })
  const { terms } = model
  if (terms === null) return null
  return (
    <section className="md-terms zs-card" aria-label={t('terms.title')}>
      <h2>{t(model.mine ? 'terms.mine' : model.accepted ? 'terms.accepted' : 'terms.title')}</h2>
      <p className="md-terms-text">{terms}</p>
      {!model.accepted &&
        !model.mine &&
        (signedIn ? (
          <Button type="primary" loading={accept.isPending} onClick={() => accept.mutate({ params: { id: model.id }, body: { terms } })}>
            {t('terms.accept')}
          </Button>
        ) : (
          <Link className="zs-button" to={`${paths.login()}?${new URLSearchParams({ redirect: paths.warehouse.detail(model.id) })}`}>
            {t('terms.signIn')}
          </Link>
        ))}
    </section>
  )
}

/** Cards of the market that hold it: one, or as many of the largest as it takes. Null where that is more than one can rent. */
function cardsFor(bytes: number): string | null {
  const fitting = cardMemories.find((one) => one >= bytes)
  const largest = Math.max(...cardMemories)
  const count = fitting === undefined ? Math.ceil(bytes / largest) : undefined
  return count !== undefined && count > cardsMost ? null : withQuery(paths.market.list(), { memory_bytes: fitting ?? largest, count })
}

function Facts({ model }: { readonly model: Model }) {
  const { t } = useTranslation('models')
  const terms = useTerms()
  const memory = memoryOf(model)
  const cards = memory === null ? null : cardsFor(memory)
  const hub = `${location.origin}${hubPath}`
  const facts = [
    ['task', terms('task', model.task)],
    ['framework', terms('framework', model.framework)],
    ['licence', terms('licence', model.licence)],
    ['quantisation', terms('quantisation', model.quantisation)],
    ['language', model.languages.map((one) => terms('language', one)).join('、') || format.nothing],
    ['parameters', model.parameters === null ? format.nothing : parametersText(model.parameters)],
    [
      'memory',
      memory === null ? (
        format.nothing
      ) : (
        <>
          {t('facts.memoryAbout', { size: format.bytes(memory) })} {cards !== null && <Link to={cards}>{t('facts.cards')}</Link>}
        </>
      ),
    ],
    ['size', format.bytes(model.size_bytes)],
    ['downloads', format.number(model.download_count)],
    ['tags', model.tags.join('、') || format.nothing],
    ['by', model.created_by],
    ['updated', format.dateTime(model.updated_at)],
  ] as const
  return (
    <aside className="md-side">
      <dl>
        {facts.map(([key, value]) => (
          <div key={key}>
            <dt>{t(`facts.${key}`)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h2>{t('use.title')}</h2>
      <p className="zs-soft">{t('use.note')}</p>
      <CopyCode text={`export HF_ENDPOINT=${hub}`} />
      <CopyCode text={`huggingface-cli download ${model.repository}`} />
      <CopyCode text={`snapshot_download("${model.repository}")`} />
    </aside>
  )
}

function Files({ model }: { readonly model: Detail }) {
  const { t } = useTranslation('models')
  const { data, error, refetch } = useCall(modelFiles.list, { params: { id: model.id } }, { silent: true })
  const download = useChange(modelFiles.download)
  const remove = useChange(modelRevisions.create, { invalidates: [models.get, modelFiles.list, modelRevisions.list], silent: true })
  const closed = model.terms !== null && !model.accepted && !model.mine
  if (error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Spin />
  if (data.items.length === 0) return <EmptyState title={t('files.none')}>{t(model.mine ? 'files.noneMine' : 'files.noneNote')}</EmptyState>
  const actionsOf = ({ path }: ModelFile): readonly Action[] => [
    {
      key: 'download',
      call: modelFiles.download,
      label: t('action.download'),
      disabledReason: closed ? t('terms.first') : null,
      run: async () => saveFrom((await download.mutateAsync({ params: { id: model.id }, body: { path } })).path),
    },
    ...(model.mine
      ? [
          {
            key: 'delete',
            call: modelRevisions.create,
            label: t('action.delete'),
            danger: true,
            confirm: { title: t('files.deleteTitle', { path }), body: t('files.deleteBody') },
            run: () => remove.mutateAsync({ params: { id: model.id }, body: { message: t('files.deleteMessage', { path }), remove: [path] } }),
          },
        ]
      : []),
  ]
  return (
    <table className="md-files">
      <thead>
        <tr>
          <th scope="col">{t('files.path')}</th>
          <th scope="col" className="zs-number">
            {t('facts.size')}
          </th>
          <th scope="col">SHA-256</th>
          <th scope="col">{t('files.actions')}</th>
        </tr>
      </thead>
      <tbody>
        {data.items.map((file) => (
          <tr key={file.path}>
            <td className="zs-code">{file.path}</td>
            <td className="zs-number">{format.bytes(file.size_bytes)}</td>
            <td className="zs-code" title={file.sha256}>
              {file.sha256.slice(0, 12)}…
            </td>
            <td>
              <ActionMenu actions={actionsOf(file)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Revisions({ model }: { readonly model: Detail }) {
  const { t } = useTranslation('models')
  const { data, error, refetch } = useCall(modelRevisions.list, { params: { id: model.id }, query: { page_size: 100 } }, { silent: true })
  if (error !== null) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Spin />
  if (data.items.length === 0) return <EmptyState title={t('revisions.none')} />
  return (
    <ol className="md-revisions zs-list">
      {data.items.map((one: ModelRevision) => (
        <li key={one.id}>
          <b>{one.message}</b>
          <span className="zs-soft">
            {t('revisions.about', {
              number: one.number,
              who: one.created_by,
              when: format.dateTime(one.created_at),
              count: one.file_count,
              size: format.bytes(one.size_bytes),
            })}
          </span>
          <CopyCode text={one.id} />
        </li>
      ))}
    </ol>
  )
}

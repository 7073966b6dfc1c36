import Alert from 'antd/es/alert'
import type { ResponseOf } from '@zhisuan/contract/define'
import type { decisions } from '@zhisuan/contract/iam/decision'
import { policies } from '@zhisuan/contract/iam/policy'
import type { PolicyDocument } from '@zhisuan/contract/policy/document'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { StatusTag } from '../../kit/StatusTag.tsx'
import { actionText } from '../../kit/actionText.ts'
import { conditionKeyText, operatorText } from './editor/conditionText.ts'
import { isBuiltIn, outcomeTone, policyText, statementText, type Place } from './outcome.ts'
import './iam.css'
import { useKeeping } from '../../session/keeping.ts'

type Answer = ResponseOf<typeof decisions.explain>
type Explained = Answer['statements'][number]

const isSame = (left: Place, right: Place): boolean => left.policy_id === right.policy_id && left.index === right.index

/** What was decided, the statement that decided in its document, and why others did not. */
export function Verdict({ answer, action }: { readonly answer: Answer; readonly action: string }) {
  const { t } = useTranslation(['iam', 'kit'])
  const { pages } = useKeeping()
  const { user, outcome, by, statements, resource } = answer
  const others = statements.filter((one) => by === null || !isSame(one, by))
  return (
    <section className="ia-verdict" aria-label={t('column.outcome')}>
      <Alert
        type={outcome === 'allowed' ? 'success' : 'error'}
        showIcon
        title={
          <>
            {t(`decision.outcome.${outcome}`)}：{actionText(action)}
          </>
        }
        description={
          <>
            {t(`decision.outcomeNote.${outcome}`, { user: user.name })}
            <div className="zs-soft">{t('decision.asked', { resource })}</div>
          </>
        }
      />
      {by !== null && (
        <>
          <h2>{t('decision.deciding')}</h2>
          <p>
            <strong>{policyText(t, by)}</strong> {statementText(t, by)}{' '}
            {isBuiltIn(by) ? (
              <span className="zs-soft">{t('decision.builtInNote')}</span>
            ) : (
              <Link className="zs-text-link" to={pages.policy.version(by.policy_id)}>
                {t('decision.openPolicy')}
              </Link>
            )}
          </p>
          {!isBuiltIn(by) && <Deciding place={by} />}
        </>
      )}
      <h2>{t('decision.others')}</h2>
      {others.length === 0 ? (
        <p className="zs-soft">{t('decision.othersNone')}</p>
      ) : (
        <ul className="zs-list zs-options">
          {others.map((one) => (
            <li className="zs-line zs-line-narrow" key={`${one.policy_id} ${one.index} ${one.boundary}`}>
              <StatusTag tone={one.applies ? outcomeTone(one.effect === 'Allow' ? 'allowed' : 'explicitDeny') : 'rest'}>
                {t(`decision.effect.${one.effect}`)}
              </StatusTag>
              <span>
                <strong>{policyText(t, one)}</strong> {statementText(t, one)}
                {one.boundary && `（${t('decision.boundary')}）`}
              </span>
              <span className="zs-soft">
                <Reason of={one} answer={answer} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Why a statement did not decide. */
function Reason({ of, answer }: { readonly of: Explained; readonly answer: Answer }) {
  const { t } = useTranslation('iam')
  if (of.other_resource) return t('decision.otherResource')
  if (of.unmet.length > 0)
    return t('decision.unmet', {
      conditions: of.unmet
        .map(({ operator, key }) => t('decision.condition', { key: conditionKeyText(t, key), operator: operatorText(t, operator) }))
        .join('、'),
    })
  if (of.effect === 'Allow' && answer.outcome === 'explicitDeny') return t('decision.overruled')
  return t(answer.by === null ? 'decision.applies' : 'decision.alsoApplies')
}

function Deciding({ place }: { readonly place: Place }) {
  const { data } = useCall(policies.get, { params: { id: place.policy_id } }, { silent: true })
  return data === undefined ? null : <MarkedDocument document={data.document} index={place.index} />
}

const indented = (value: unknown, by: string): string => JSON.stringify(value, null, 2).replace(/^/gm, by)

/** A document in which one statement is marked. */
function MarkedDocument({ document, index }: { readonly document: PolicyDocument; readonly index: number }) {
  return (
    <pre className="ia-json">
      {`{\n  "Version": ${JSON.stringify(document.Version)},\n  "Statement": [\n`}
      {document.Statement.map((statement, at) => {
        const text = `${indented(statement, '    ')}${at < document.Statement.length - 1 ? ',' : ''}\n`
        // Statements have no identity but their place.
        return at === index ? <mark key={at}>{text}</mark> : text
      })}
      {'  ]\n}'}
    </pre>
  )
}

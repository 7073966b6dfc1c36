import CheckCircleFilled from '@ant-design/icons/es/icons/CheckCircleFilled'
import { accounts } from '@zhisuan/contract/bill/account'
import { arrearsPolicies } from '@zhisuan/contract/bill/arrears'
import { products } from '@zhisuan/contract/bill/catalogue'
import { toMinor } from '@zhisuan/contract/bill/money'
import { edges } from '@zhisuan/contract/ecrm/edge'
import { quotas, type QuotaResource } from '@zhisuan/contract/nextstack/quota'
import { organisations, users } from '@zhisuan/contract/ums/user'
import { useEffect, useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useCall } from '../../api/hooks.ts'
import { paths, withQuery } from '../../paths.ts'
import { useCurrentUser } from '../../session/user.ts'
import { readPutAway, writePutAway } from './putAway.ts'
import './overview.css'

type StepKey = 'organisation' | 'keeper' | 'quota' | 'money' | 'least' | 'prices' | 'place' | 'network' | 'key' | 'vm'
interface Step {
  readonly key: StepKey
  readonly to: string
  /** Undefined while nobody knows. */
  readonly done: boolean | undefined
}

const one = { page_size: 1 } as const
const silent = { silent: true } as const

/** Who runs the platform: what has to be there before anybody can work. */
export function PlatformStart({ usableClouds }: { readonly usableClouds: number | undefined }) {
  const made = useCall(organisations.list, { query: one }, silent).data
  const keepers = useCall(users.list, { query: { ...one, kind: 2 } }, silent).data
  const limited = useCall(quotas.list, { query: { page_size: 100 } }, silent).data
  const richest = useCall(accounts.list, { query: { ...one, sort: '-balance' } }, silent).data
  const sold = useCall(products.list, { query: { page_size: 100 } }, silent).data
  const policy = useCall(arrearsPolicies.get, {}, silent).data
  const nodes = useCall(edges.list, { query: one }, silent).data
  return (
    <StartCard
      steps={[
        { key: 'place', to: paths.platform.clouds(), done: (usableClouds ?? 0) > 0 || (nodes && usableClouds !== undefined ? nodes.total > 0 : undefined) },
        { key: 'organisation', to: paths.iam.partners(), done: made && made.total > 0 },
        { key: 'keeper', to: paths.iam.user.add(), done: keepers && keepers.total > 0 },
        { key: 'quota', to: paths.iam.partners(), done: limited?.items.some(({ lines }) => lines.some(({ limit }) => limit !== null)) },
        { key: 'prices', to: paths.billing.product.list(), done: sold?.items.some(({ priced_sku_count }) => priced_sku_count > 0) },
        {
          key: 'least',
          to: withQuery(paths.platform.configuration.list(), { tab: 'arrears' }),
          done: policy && (toMinor(policy.least_balance) > 0n || policy.updated_at !== null),
        },
        { key: 'money', to: paths.billing.account(), done: richest?.items.some(({ balance }) => Number(balance) > 0) },
      ]}
    />
  )
}

/** An organisation's people: what their first machine needs, and it. */
export function OrganisationStart() {
  const mine = useCall(quotas.mine, {}, silent).data
  const has = (wanted: QuotaResource): boolean | undefined => mine?.lines.some(({ resource, used }) => resource === wanted && used > 0)
  return (
    <StartCard
      steps={[
        { key: 'network', to: paths.nextstack.vpc.list(), done: has('vpcs') },
        { key: 'key', to: paths.nextstack.publicKey.list(), done: has('key_pairs') },
        { key: 'vm', to: paths.nextstack.vm.add(), done: has('vms') },
      ]}
    />
  )
}

/**
 * What to do first, and how far one is; gone for good once all is done, or once somebody has had enough of it. It is drawn
 * at once, before any step's state is known: nothing moves when it comes.
 */
function StartCard({ steps }: { readonly steps: readonly Step[] }) {
  const { t } = useTranslation('overview')
  const id = useCurrentUser()?.id ?? ''
  const [away, setAway] = useState(() => readPutAway(id))
  const isDone = steps.every(({ done }) => done === true)
  useEffect(() => {
    if (isDone) writePutAway(id)
  }, [id, isDone])
  if (away || isDone) return null
  return (
    <section className="zs-card" aria-labelledby="overview-start">
      <div className="overview-head">
        <h2 className="zs-title" id="overview-start">
          {t('start.title')}
        </h2>
        <button
          type="button"
          className="zs-linkbutton"
          onClick={() => {
            writePutAway(id)
            setAway(true)
          }}
        >
          {t('start.putAway')}
        </button>
      </div>
      <ol className="zs-list overview-start">
        {steps.map(({ key, to, done }, at) => (
          <li key={key}>
            {done === true ? (
              <CheckCircleFilled className="overview-done" role="img" aria-label={t('start.done')} />
            ) : (
              <span className="overview-number" aria-hidden="true">
                {at + 1}
              </span>
            )}
            <div>
              <h3>
                <Link to={to}>{t(`start.step.${key}`)}</Link>
              </h3>
              <p className="zs-soft">{t(`start.note.${key}`)}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}

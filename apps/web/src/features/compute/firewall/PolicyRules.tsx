import ArrowDownOutlined from '@ant-design/icons/es/icons/ArrowDownOutlined'
import ArrowUpOutlined from '@ant-design/icons/es/icons/ArrowUpOutlined'
import HolderOutlined from '@ant-design/icons/es/icons/HolderOutlined'
import Alert from 'antd/es/alert'
import Button from 'antd/es/button'
import { firewallPolicies, firewallRules, opensAll, reachedRules, type FirewallPolicy } from '@zhisuan/contract/compute/firewall'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { useChange } from '../../../api/hooks.ts'
import { ActionButton, ActionMenu } from '../../../kit/actions.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { StatusTag } from '../../../kit/StatusTag.tsx'
import { paths } from '../../../paths.ts'
import { useCloudLines } from '../CloudTable.tsx'
import { actionTones, called, moved, ruleText, invalidatedByFirewall } from './firewallText.ts'
import { openAt } from './drawerAddress.ts'
import { RuleInsert } from './PolicyDialogs.tsx'
import './firewall.css'
import '../../../kit/actions.css'

/** The rules of a policy in their order, which is changed by dragging or by buttons and saved with each step. */
export function PolicyRules({ cloudId, policy }: { readonly cloudId: string; readonly policy: FirewallPolicy }) {
  const { t } = useTranslation('computeFirewall')
  /** The order that is being saved; null: that of the policy. */
  const [order, setOrder] = useState<readonly string[] | null>(null)
  const [dragged, setDragged] = useState<number | null>(null)
  const [over, setOver] = useState<number | null>(null)
  const [said, setSaid] = useState('')
  const rows = useRef<HTMLOListElement>(null)
  /** The button that was pressed: its row has moved away from under it. */
  const pressed = useRef<string | null>(null)
  const { data } = useCloudLines(firewallRules.list, cloudId)
  const set = useChange(firewallPolicies.setRules, { invalidates: invalidatedByFirewall })
  const take = useChange(firewallPolicies.removeRule, { invalidates: invalidatedByFirewall })
  const saved = policy.rule_ids.join()
  // What the cloud says now counts again as soon as it says something else.
  useEffect(() => setOrder(null), [saved])
  const ids = order ?? policy.rule_ids
  const rules = ids.map((id) => data?.items.find((rule) => rule.id === id))
  const reached = reachedRules(rules)
  const nameOf = (id: string): string => {
    const rule = data?.items.find((one) => one.id === id)
    return rule === undefined ? t('policy.unknownRule', { id }) : called(rule)
  }
  useEffect(() => {
    const button = pressed.current === null ? null : rows.current?.querySelector<HTMLElement>(`[data-move="${pressed.current}"]`)
    pressed.current = null
    // At an end of the list there is no further way: then the other button is at hand.
    if (button?.getAttribute('aria-disabled') === 'true') button.parentElement?.querySelector<HTMLElement>('[data-move]:not([aria-disabled="true"])')?.focus()
    else button?.focus()
  }, [order])

  const fixed = !policy.changeable || policy.default
  const move = async (from: number, to: number): Promise<void> => {
    const id = ids[from]
    if (id === undefined || from === to || to < 0 || to >= ids.length || set.isPending || fixed) return
    const next = moved(ids, from, to)
    setOrder(next)
    try {
      await set.mutateAsync({ params: { cloud_id: cloudId, id: policy.id }, body: { rule_ids: next, was: [...ids] } })
      setSaid(t('policy.moved', { name: nameOf(id), number: to + 1, count: ids.length }))
    } catch {
      // What went wrong is told; the list is read again.
      setOrder(null)
    }
  }
  const press = (id: string, way: 'up' | 'down', from: number): void => {
    pressed.current = `${id} ${way}`
    void move(from, way === 'up' ? from - 1 : from + 1)
  }
  const arrow = (id: string, way: 'up' | 'down', index: number) => {
    const end = way === 'up' ? index === 0 : index === ids.length - 1
    return (
      <Button
        type="text"
        size="small"
        data-move={`${id} ${way}`}
        aria-disabled={end}
        className={end ? 'zs-off' : ''}
        aria-label={t(`policy.${way}`, { name: nameOf(id) })}
        icon={way === 'up' ? <ArrowUpOutlined aria-hidden /> : <ArrowDownOutlined aria-hidden />}
        onClick={() => press(id, way, index)}
      />
    )
  }

  return (
    <section aria-label={t('field.rules')}>
      <h2 className="cf-heading">{t('field.rules')}</h2>
      <p className="cf-soft">{t(fixed ? 'policy.orderFixed' : 'policy.order')}</p>
      {rules.some((rule, index) => rule !== undefined && opensAll(rule) && reached[index] === true) && !policy.default && (
        <Alert className="zs-above" type="warning" showIcon title={t('policy.opensNote')} />
      )}
      {!fixed && (
        <div className="cf-bar">
          <ActionButton
            look="default"
            action={{
              key: 'add',
              call: firewallPolicies.insertRule,
              label: t('policy.addRule'),
              dialog: (close) => <RuleInsert cloudId={cloudId} policy={policy} nameOf={nameOf} onClose={close} />,
            }}
          />
        </div>
      )}
      {ids.length === 0 ? (
        <EmptyState title={t('policy.none')} />
      ) : (
        <ol className="zs-list" ref={rows} aria-busy={set.isPending}>
          {ids.map((id, index) => {
            const rule = rules[index]
            const name = nameOf(id)
            return (
              <li
                key={id}
                className={`cf-row${over === index && dragged !== null ? ' cf-row-over' : ''}`}
                draggable={!fixed}
                onDragStart={(event) => {
                  event.dataTransfer.effectAllowed = 'move'
                  event.dataTransfer.setData('text/plain', name)
                  setDragged(index)
                }}
                onDragOver={(event) => {
                  if (dragged === null) return
                  event.preventDefault()
                  setOver(index)
                }}
                onDrop={(event) => {
                  event.preventDefault()
                  if (dragged !== null) void move(dragged, index)
                }}
                onDragEnd={() => {
                  setDragged(null)
                  setOver(null)
                }}
              >
                {!fixed && <HolderOutlined className="cf-grip" title={t('policy.drag')} aria-hidden />}
                <span className="cf-number zs-number">{index + 1}</span>
                <div className="cf-row-what">
                  <Link to={openAt(paths.compute.firewall.rules(), id)}>{name}</Link>
                  {rule !== undefined && <div className="cf-row-note zs-code">{ruleText(t, rule)}</div>}
                  {rule !== undefined && reached[index] === false && <div className="cf-row-note">{t('policy.unreached', { version: rule.version })}</div>}
                  {rule?.enabled === false && <div className="cf-row-note">{t('disabled')}</div>}
                </div>
                {rule !== undefined && (
                  <StatusTag tone={opensAll(rule) ? 'warning' : actionTones[rule.action]}>
                    {opensAll(rule) ? t('policy.opens') : t(`action.${rule.action}`)}
                  </StatusTag>
                )}
                {!fixed && (
                  <>
                    <span>
                      {arrow(id, 'up', index)}
                      {arrow(id, 'down', index)}
                    </span>
                    <ActionMenu
                      label={t('policy.takeOf', { name })}
                      actions={[
                        {
                          key: 'take',
                          call: firewallPolicies.removeRule,
                          label: t('policy.take'),
                          danger: true,
                          doneText: t('policy.taken', { name }),
                          confirm: {
                            title: t('policy.takeTitle', { name, policy: called(policy) }),
                            body: t('policy.takeBody', { count: policy.group_ids.length }),
                          },
                          run: () => take.mutateAsync({ params: { cloud_id: cloudId, id: policy.id }, body: { rule_id: id } }),
                        },
                      ]}
                    />
                  </>
                )}
              </li>
            )
          })}
        </ol>
      )}
      <div role="status" className="zs-hidden">
        {said}
      </div>
    </section>
  )
}

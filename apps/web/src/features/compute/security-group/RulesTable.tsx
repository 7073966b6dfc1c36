import Tag from 'antd/es/tag'
import { computeSecurityGroups, type ComputeSecurityRule, type RuleDirection } from '@zhisuan/contract/compute/security-group'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { useChange } from '../../../api/hooks.ts'
import { col, type Column } from '../../../kit/columns.tsx'
import { filter } from '../../../kit/filters.ts'
import { firstNames } from '../../../kit/firstNames.ts'
import { RowsTable, useTableState } from '../../../kit/RowsTable.tsx'
import { paths } from '../../../paths.ts'
import { arranged } from '../../../kit/arrange.ts'
import { RuleDialog } from './RuleDialog.tsx'
import { exposedBy, protocolText, rangeText, remoteText, invalidatedByGroup } from './securityRules.ts'

type Group = ResponseOf<typeof computeSecurityGroups.get>
type Rule = ComputeSecurityRule

/** Rules of one direction: what they let through, and which of them let too much. */
export function RulesTable({ cloudId, group, direction }: { readonly cloudId: string; readonly group: Group; readonly direction: RuleDirection }) {
  const { t } = useTranslation('computeSecurity')
  const remove = useChange(computeSecurityGroups.removeRule, { invalidates: invalidatedByGroup, silent: true })
  const filters = [filter.keyword(t('rule.keyword'))]
  const table = useTableState({ name: direction, filters })
  const params = ({ id: security_group_rule_id }: Rule) => ({ params: { cloud_id: cloudId, id: group.id, security_group_rule_id } })
  const nameOfGroup = (id: string): string => group.names[id] ?? id
  const textOf = (rule: Rule): string => `${protocolText(t, rule.protocol)} ${rangeText(t, rule)} ${remoteText(t, rule, nameOfGroup)} ${rule.description}`
  const called = (rule: Rule): string => [protocolText(t, rule.protocol), rangeText(t, rule), remoteText(t, rule, nameOfGroup)].join(' ')
  const fixed = group.changeable ? null : t('group.notYours')
  const rows = arranged(
    group.rules.filter((rule) => rule.direction === direction),
    table.state,
    {
      textOf,
      sortBy: {
        protocol: (rule) => protocolText(t, rule.protocol),
        range: ({ port_from, icmp_type }) => port_from ?? icmp_type,
        version: ({ version }) => version,
        remote: (rule) => remoteText(t, rule, nameOfGroup),
      },
      sortFirst: 'range',
    },
  )
  const columns: readonly Column<Rule>[] = [
    {
      ...col.custom<Rule>(
        'protocol',
        t('rule.column.protocol'),
        (rule) => {
          const exposed = exposedBy(rule)
          return (
            <>
              {protocolText(t, rule.protocol)}{' '}
              {exposed.length > 0 && (
                <Tag color="warning" title={t('rule.exposedNote', { services: firstNames(exposed, '…') })}>
                  {t('rule.exposed')}
                </Tag>
              )}
            </>
          )
        },
        { sort: true, width: 190 },
      ),
      fixedShown: true,
    },
    col.code('range', t('rule.column.range'), (rule) => rangeText(t, rule), { sort: true, width: 150 }),
    col.text('version', t('rule.column.version'), ({ version }) => `IPv${version}`, { sort: true, width: 90 }),
    col.custom(
      'remote',
      t(`rule.column.remote.${direction}`),
      (rule) =>
        rule.remote_group_id === null ? (
          <span className={rule.remote_cidr === null ? '' : 'zs-code'}>{remoteText(t, rule, nameOfGroup)}</span>
        ) : (
          <Link to={paths.compute.securityGroup.detail(rule.remote_group_id)} className="zs-cut">
            {remoteText(t, rule, nameOfGroup)}
          </Link>
        ),
      { sort: true, width: 220 },
    ),
    col.text('description', t('rule.column.description'), ({ description }) => description),
    col.code('id', t('rule.column.id'), ({ id }) => id, { width: 280, off: true }),
  ]
  return (
    <>
      <RowsTable<Rule>
        name={direction}
        list={`${computeSecurityGroups.get.id}.rules`}
        table={table}
        columns={columns}
        filters={filters}
        shown={{
          rows: rows.slice((table.state.page - 1) * table.state.size, table.state.page * table.state.size),
          total: rows.length,
          first: false,
          error: null,
          reading: false,
          staleSince: null,
          again: () => undefined,
        }}
        nameOf={called}
        rowActions={(rule) => [
          {
            key: 'remove',
            call: computeSecurityGroups.removeRule,
            label: t('rule.remove'),
            danger: true,
            disabledReason: fixed,
            doneText: t('rule.removed'),
            confirm: { title: t('rule.removeTitle', { rule: called(rule) }), body: t('rule.removeBody') },
            run: () => remove.mutateAsync(params(rule)),
          },
        ]}
        batchActions={[
          {
            key: 'remove',
            call: computeSecurityGroups.removeRule,
            label: t('rule.remove'),
            danger: true,
            disabledReason: () => fixed,
            confirm: (rules) => ({
              title: t('rule.removeMany', { count: rules.length }),
              body: (
                <>
                  <p>{firstNames(rules.map(called), t('rule.more', { count: rules.length }))}</p>
                  <p>{t('rule.removeBody')}</p>
                </>
              ),
            }),
            run: (rule) => remove.mutateAsync(params(rule)),
          },
        ]}
        create={{
          call: computeSecurityGroups.addRule,
          label: t('rule.add'),
          disabledReason: fixed,
          dialog: (close) => <RuleDialog cloudId={cloudId} group={group} direction={direction} onClose={close} />,
        }}
        empty={{ title: t(`rule.none.${direction}`), note: t(`rule.noneNote.${direction}`) }}
      />
    </>
  )
}

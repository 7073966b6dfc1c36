import { servicePorts, type ServicePort, type TargetTest } from '@zhisuan/contract/middleware/gateway'
import Drawer from 'antd/es/drawer'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { useState } from 'react'
import { useCall, useChange } from '../../api/hooks.ts'
import { useTranslation } from '../../i18n.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { col } from '../../kit/columns.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { useReturnFocus } from '../../kit/focus.ts'
import type { Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { targetTones } from './gatewayRules.ts'

type Target = ServicePort['targets'][number]

/** Who is behind a port: how each is, since when, why not, and a look at it now. */
export default function TargetDrawer({ id, onClose }: Dialog<{ id: string }>) {
  const { t } = useTranslation('middleware')
  useReturnFocus()
  const { data, error, refetch } = useCall(servicePorts.get, { params: { id } }, { silent: true, refreshMs: 5_000 })
  const test = useChange(servicePorts.test, { silent: true })
  const [tests, setTests] = useState<Readonly<Record<string, TargetTest>>>({})
  return (
    <Drawer open size={960} title={t('port.targetsTitle', { name: data?.name ?? '' })} onClose={onClose}>
      {data === undefined ? (
        error === null ? (
          <Skeleton active paragraph={{ rows: 6 }} />
        ) : (
          <ErrorPanel error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <Table<Target>
          size="small"
          rowKey="id"
          pagination={false}
          dataSource={[...data.targets]}
          columns={[
            col.code<Target>('address', t('field.address'), ({ address, port }) => `${address.includes(':') ? `[${address}]` : address}:${port}`, {
              width: 200,
            }),
            col.text<Target>(
              'weight',
              t('field.weight'),
              ({ weight, backup, enabled }) => (enabled ? (backup ? t('target.backup', { weight }) : String(weight)) : t('target.disabled')),
              {
                width: 90,
              },
            ),
            col.status<Target>(
              'state',
              t('column.status'),
              ({ now }) => ({
                tone: targetTones[now.state],
                text: t(`target.state.${now.state}`),
                note: [
                  now.reason === null || now.state === 'up' ? '' : t(`reason.${now.reason}`),
                  now.state === 'up' ? '' : now.said,
                  now.seconds === null ? '' : t('target.since', { time: format.duration(now.seconds * 1_000) }),
                ]
                  .filter(Boolean)
                  .join(' · '),
              }),
              { width: 220 },
            ),
            col.number<Target>('connections', t('traffic.connections'), ({ now }) => now.connections, { width: 90 }),
            col.custom<Target>('test', t('target.tested'), (target) => <Tested test={tests[target.id]} />, { width: 170 }),
            {
              key: '@actions',
              title: t('column.actions'),
              width: 80,
              render: (_, target) => (
                <ActionMenu
                  actions={[
                    {
                      key: 'test',
                      call: servicePorts.test,
                      label: t('target.test'),
                      run: async () => {
                        const result = await test.mutateAsync({ params: { id, sid: target.id } })
                        setTests((before) => ({ ...before, [target.id]: result }))
                      },
                    },
                  ]}
                />
              ),
            },
          ]}
        />
      )}
    </Drawer>
  )
}

/** What a look found, read aloud when it comes. */
function Tested({ test }: { readonly test: TargetTest | undefined }) {
  const { t } = useTranslation('middleware')
  return (
    <span role="status" className={test?.ok === false ? 'zs-bad' : ''}>
      {test === undefined
        ? ''
        : test.ok
          ? t('target.testOk', { milliseconds: test.milliseconds, status: test.http_status === null ? '' : `HTTP ${test.http_status}` })
          : [t(`reason.${test.reason}`), test.http_status === null ? test.said : `HTTP ${test.http_status}`].filter(Boolean).join(' · ')}
    </span>
  )
}

import Descriptions from 'antd/es/descriptions'
import Drawer from 'antd/es/drawer'
import Select from 'antd/es/select'
import Skeleton from 'antd/es/skeleton'
import Table from 'antd/es/table'
import { repositories, type ImageTag } from '@zhisuan/contract/ims/project'
import type { ResponseOf } from '@zhisuan/contract/define'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useCall } from '../../api/hooks.ts'
import { col } from '../../kit/columns.tsx'
import { CopyCode } from '../../kit/CopyCode.tsx'
import { EmptyState } from '../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import type { Dialog } from '../../kit/FormDialog.tsx'
import * as format from '../../kit/format.ts'
import { platformText } from './platformText.ts'
import './registry.css'

type Answer = ResponseOf<typeof repositories.buildHistory>
type Step = Answer['items'][number]

/** How an image was built, for one of the platforms that it is for. */
export default function BuildHistory({
  at,
  image,
  tag,
  onClose,
}: Dialog<{ at: { readonly id: string; readonly pid: string; readonly name: string }; image: string; tag: Pick<ImageTag, 'name' | 'platforms'> }>) {
  const { t } = useTranslation('mirror')
  const [chosen, setChosen] = useState(0)
  const platform = tag.platforms[chosen]
  const { data, error, isPlaceholderData, refetch } = useCall(
    repositories.buildHistory,
    {
      params: at,
      query: {
        tag: tag.name,
        ...(platform !== undefined && {
          os: platform.os,
          architecture: platform.architecture,
          ...(platform.variant !== null && { variant: platform.variant }),
        }),
      },
    },
    { silent: true },
  )
  return (
    <Drawer open size={860} title={t('history.title', { name: `${at.name}:${tag.name}` })} onClose={onClose}>
      <p className="zs-above">
        <CopyCode text={`docker pull ${image}:${tag.name}`} />
      </p>
      {tag.platforms.length > 1 && (
        <Select<number>
          className="rg-registry zs-above"
          aria-label={t('history.platform')}
          value={chosen}
          options={tag.platforms.map((one, index) => ({ value: index, label: platformText(one) }))}
          onChange={setChosen}
        />
      )}
      {error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : data === undefined || isPlaceholderData ? (
        <Skeleton active paragraph={{ rows: 8 }} />
      ) : (
        <Built built={data} />
      )}
    </Drawer>
  )
}

function Built({ built }: { readonly built: Answer }) {
  const { t } = useTranslation('mirror')
  const code = (parts: readonly string[], by: string) => (parts.length === 0 ? format.nothing : <span className="zs-code rg-code">{parts.join(by)}</span>)
  return (
    <>
      <Descriptions
        size="small"
        column={1}
        items={[
          { key: 'digest', label: t('column.digest'), children: <CopyCode text={built.digest} /> },
          { key: 'at', label: t('history.builtAt'), children: format.dateTime(built.created_at) },
          { key: 'author', label: t('history.author'), children: built.author ?? format.nothing },
          { key: 'entrypoint', label: t('history.entrypoint'), children: code(built.entrypoint, ' ') },
          { key: 'command', label: t('history.command'), children: code(built.command, ' ') },
          { key: 'ports', label: t('history.ports'), children: code(built.exposed_ports, '、') },
          { key: 'environment', label: t('history.environment'), children: code(built.environment, '\n') },
          {
            key: 'labels',
            label: t('history.labels'),
            children: code(
              Object.entries(built.labels).map(([key, value]) => `${key}=${value}`),
              '\n',
            ),
          },
        ]}
      />
      <h3 className="rg-part">{t('history.steps')}</h3>
      <Table<Step>
        size="small"
        rowKey={(step) => String(built.items.indexOf(step))}
        pagination={false}
        dataSource={built.items}
        locale={{ emptyText: <EmptyState title={t('history.noSteps')} /> }}
        columns={[
          col.custom<Step>('step', t('history.step'), ({ created_by, comment }) => (
            <span className="zs-code rg-code">{created_by || comment || format.nothing}</span>
          )),
          col.code<Step>('layer', t('history.layer'), ({ digest }) => digest?.slice(0, 19) ?? null, { width: 180 }),
          col.bytes<Step>('size', t('column.size'), ({ size_bytes }) => size_bytes, { width: 100 }),
        ]}
      />
    </>
  )
}

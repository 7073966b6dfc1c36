import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { storagePools, type StoragePool } from '@zhisuan/contract/nextstack/volume'
import { useTranslation } from '../../../i18n.ts'
import { useCall } from '../../../api/hooks.ts'
import { errorText } from '../../../api/toasts.ts'
import * as format from '../../../kit/format.ts'
import { freeBytes } from './storageRules.ts'

/** The pool that a volume lies in, with how much is free there, and whether a size is a limit. */
export function PoolField({
  cloudId,
  chosen,
  fixed,
}: {
  readonly cloudId: string | undefined
  readonly chosen: string | undefined
  /** The one that it has to be, because a copy stays in its pool. */
  readonly fixed: string | undefined
}) {
  const { t } = useTranslation('storage')
  const { data, error, isPending } = useCall(
    storagePools.list,
    { query: { cloud_id: cloudId, page_size: 1000, sort: 'name' } },
    { enabled: cloudId !== undefined, silent: true },
  )
  const pools = data?.items ?? []
  const pool = pools.find(({ name }) => name === (fixed ?? chosen)) ?? (pools.length === 1 ? pools[0] : undefined)
  const about =
    fixed !== undefined ? (
      t('add.poolFixed')
    ) : pool !== undefined ? (
      <Limit of={pool} />
    ) : error !== null && data === undefined ? (
      t('add.poolUnread', { reason: errorText(error) })
    ) : null
  return (
    <Form.Item name="pool" label={t('field.pool')} extra={about}>
      <Select
        allowClear
        disabled={fixed !== undefined}
        loading={cloudId !== undefined && isPending}
        placeholder={t('field.poolDefault')}
        optionLabelProp="title"
        options={pools.map((one) => ({ value: one.name, title: one.name, label: <Option of={one} /> }))}
      />
    </Form.Item>
  )
}

function Option({ of }: { readonly of: StoragePool }) {
  const { t } = useTranslation('storage')
  const free = freeBytes(of)
  return (
    <>
      {of.name}{' '}
      <span className="zs-soft">
        {[of.driver, of.description, free === null ? '' : t('add.poolFree', { free: format.bytes(free) })].filter((part) => part !== '').join(' · ')}
      </span>
    </>
  )
}

function Limit({ of }: { readonly of: StoragePool }) {
  const { t } = useTranslation('storage')
  const free = freeBytes(of)
  return (
    <>
      {free !== null && t('add.poolFreeOf', { free: format.bytes(free), total: format.bytes(of.total_bytes) })}
      {of.enforces_size ? t('add.poolEnforces') : t('add.poolKeeps')}
    </>
  )
}

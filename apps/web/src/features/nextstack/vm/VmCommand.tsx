import CloseOutlined from '@ant-design/icons/es/icons/CloseOutlined'
import MenuFoldOutlined from '@ant-design/icons/es/icons/MenuFoldOutlined'
import MenuUnfoldOutlined from '@ant-design/icons/es/icons/MenuUnfoldOutlined'
import SplitCellsOutlined from '@ant-design/icons/es/icons/SplitCellsOutlined'
import Button from 'antd/es/button'
import Input from 'antd/es/input'
import Skeleton from 'antd/es/skeleton'
import { terminals, vms } from '@zhisuan/contract/nextstack/vm'
import { useDeferredValue, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link, useSearchParams } from 'react-router'
import { whilePassing } from '../../../kit/whilePassing.ts'
import { request } from '../../../api/client.ts'
import { useCall } from '../../../api/hooks.ts'
import { notify } from '../../../api/notify.ts'
import { clearable } from '../../../kit/clearable.tsx'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { ErrorPanel } from '../../../kit/ErrorPanel.tsx'
import { Terminal } from '../../../kit/Terminal.tsx'
import { paths } from '../../../paths.ts'
import { useClouds } from '../../../session/cloud.ts'
import { NextStackPage } from '../NextStackPage.tsx'
import '../nextstack.css'
import { usableAddresses } from './vmAddresses.ts'
import { closeTerminal, readCommand, showTerminal, terminalsMax, toggleSplit, writeCommand, type CommandState } from './vmCommandState.ts'
import { isChanging } from './vmRules.ts'
import { VmStatusTag } from './VmStatusTag.tsx'

/** Terminals of several instances on one page: the address knows which, the server knows where each was. */
export default function VmCommand() {
  const { t } = useTranslation('nextstack')
  const { selected: cloud } = useClouds()
  const [search, setSearch] = useSearchParams()
  const state = readCommand(search)
  const change = (next: CommandState): void => setSearch(writeCommand(next), { replace: true })
  const [listShown, setListShown] = useState(true)

  const show = (id: string): void => {
    const next = showTerminal(state, id)
    if (next === state && state.at !== id) notify('warning', t('command.limit', { count: terminalsMax }))
    else change(next)
  }

  return (
    <NextStackPage possible={cloud?.product === 'nextstack' || state.open.length > 0}>
      <div className={`ns-command${listShown ? '' : ' ns-command-wide'}`}>
        {listShown && <RunningList cloudId={cloud?.cloud_id} open={state.open} onShow={show} />}
        <section className="ns-command-main">
          <div className="ns-command-bar">
            <Button
              type="text"
              icon={listShown ? <MenuFoldOutlined /> : <MenuUnfoldOutlined />}
              aria-label={listShown ? t('command.hide') : t('command.show')}
              aria-expanded={listShown}
              onClick={() => setListShown(!listShown)}
            />
            {/* No tabs by the ARIA pattern: two may be shown, and each can be closed. */}
            <div role="list" className="ns-command-tabs" aria-label={t('command.open')}>
              {state.open.map((id) => (
                <Tab key={id} id={id} shown={id === state.at || id === state.beside} onShow={() => show(id)} onClose={() => change(closeTerminal(state, id))} />
              ))}
            </div>
            <Button
              type="text"
              icon={<SplitCellsOutlined />}
              aria-label={state.beside === null ? t('command.split') : t('command.single')}
              title={state.beside === null ? t('command.split') : t('command.single')}
              aria-pressed={state.beside !== null}
              disabled={state.open.length < 2}
              onClick={() => change(toggleSplit(state))}
            />
          </div>
          {state.open.length === 0 ? (
            <EmptyState title={t('command.start')}>{t('command.startNote')}</EmptyState>
          ) : (
            // All stay: one that is not seen goes on printing.
            <div className={`ns-command-screens${state.beside === null ? '' : ' ns-command-split'}`}>
              {state.open.map((id) => (
                <div key={id} hidden={id !== state.at && id !== state.beside} style={{ order: id === state.beside ? 1 : 0 }}>
                  <OneTerminal id={id} focus={id === state.at} />
                </div>
              ))}
            </div>
          )}
        </section>
      </div>
    </NextStackPage>
  )
}

/** As many as fit a list that is looked through; more are searched. */
const listedMax = 100

function RunningList({
  cloudId,
  open,
  onShow,
}: {
  readonly cloudId: string | undefined
  readonly open: readonly string[]
  readonly onShow: (id: string) => void
}) {
  const { t } = useTranslation('nextstack')
  const [text, setText] = useState('')
  const keyword = useDeferredValue(text.trim())
  const { data, error, refetch } = useCall(
    vms.list,
    { query: { cloud_id: cloudId, status: 'running', page_size: listedMax, sort: 'name', ...(keyword !== '' && { keyword }) } },
    { silent: true, enabled: cloudId !== undefined, refreshMs: 5_000 },
  )
  const items = data?.items ?? []
  return (
    <nav className="ns-command-list" aria-label={t('command.instances')}>
      <h2 className="zs-heading">{t('command.instances')}</h2>
      <Input.Search
        allowClear={clearable}
        aria-label={t('command.search')}
        placeholder={t('command.search')}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {data === undefined &&
        (error === null ? <Skeleton active title={false} paragraph={{ rows: 6 }} /> : <ErrorPanel error={error} onRetry={() => void refetch()} />)}
      {data !== undefined &&
        items.length === 0 &&
        (keyword === '' ? (
          <EmptyState title={t('command.none')} action={<Link to={paths.nextstack.vm.list()}>{t('command.toList')}</Link>}>
            {t('command.noneNote')}
          </EmptyState>
        ) : (
          <p className="zs-soft">{t('command.noMatch')}</p>
        ))}
      <ul>
        {items.map((vm) => (
          <li key={vm.id}>
            <button type="button" className={open.includes(vm.id) ? 'ns-command-item ns-command-open' : 'ns-command-item'} onClick={() => onShow(vm.id)}>
              <span className="zs-cut" title={vm.name}>
                {vm.name}
              </span>
              <span className="zs-soft zs-code">{usableAddresses(vm)[0]?.address ?? t(`type.${vm.type}`)}</span>
              {open.includes(vm.id) && <span className="ns-command-mark">{t('command.opened')}</span>}
            </button>
          </li>
        ))}
      </ul>
      {data !== undefined && data.total > items.length && <p className="zs-soft">{t('command.more', { count: data.total - items.length })}</p>}
    </nav>
  )
}

const useVm = (id: string) => useCall(vms.get, { params: { id } }, { silent: true, refreshMs: (vm) => whilePassing(vm, isChanging) })

function Tab({ id, shown, onShow, onClose }: { readonly id: string; readonly shown: boolean; readonly onShow: () => void; readonly onClose: () => void }) {
  const { t } = useTranslation('nextstack')
  const name = useVm(id).data?.name ?? id.slice(0, 8)
  return (
    <span role="listitem" className={shown ? 'ns-command-tab ns-command-tab-shown' : 'ns-command-tab'}>
      <button type="button" aria-pressed={shown} onClick={onShow} title={name}>
        {name}
      </button>
      <Button type="text" size="small" icon={<CloseOutlined />} aria-label={t('command.close', { name })} onClick={onClose} />
    </span>
  )
}

function OneTerminal({ id, focus }: { readonly id: string; readonly focus: boolean }) {
  const { t } = useTranslation('nextstack')
  const { data: vm, error, refetch } = useVm(id)
  if (error?.status === 404) return <EmptyState title={t('command.gone')} />
  if (vm === undefined) return error === null ? <Skeleton active /> : <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (vm.status !== 'running') {
    return (
      <EmptyState
        title={t('command.stopped', { name: vm.name, state: t(`status.${vm.status}`) })}
        action={<Link to={paths.nextstack.vm.detail(id)}>{t('detail.tab.overview')}</Link>}
      >
        <VmStatusTag vm={vm} />
      </EmptyState>
    )
  }
  return <Terminal resumeKey={id} label={vm.name} focus={focus} open={(body) => request(terminals.open, { params: { id }, body })} />
}

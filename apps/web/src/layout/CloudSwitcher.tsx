import CloudOutlined from '@ant-design/icons/es/icons/CloudOutlined'
import DownOutlined from '@ant-design/icons/es/icons/DownOutlined'
import Button from 'antd/es/button'
import Dropdown from 'antd/es/dropdown'
import { useTranslation } from '../i18n.ts'
import { useEffect, useState } from 'react'
import { useLocation, useNavigate, type Location } from 'react-router'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { endKey, usePopupFocus } from '../kit/focus.ts'
import type { Route } from '../routes.ts'
import { chooseCloud, useClouds } from '../session/cloud.ts'
import { CloudLine } from '../kit/CloudLabels.tsx'
import { pathAfterCloudChange } from './cloudChange.ts'
import './frame.css'

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

/** Chooses the cloud that the pages of the two cloud families are about. */
export function CloudSwitcher({ route, narrow }: { readonly route: Route; readonly narrow: boolean }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const focus = usePopupFocus()
  const { list, selected, loading } = useClouds()
  const { pathname, search, state } = useLocation() as Location<unknown>
  const [wanted, setWanted] = useState<{ readonly from: string; readonly cloud: CloudBasic } | null>(null)

  const choose = (former: CloudBasic, cloud: CloudBasic): void => {
    const to = pathAfterCloudChange(route, former, cloud)
    if (to === null) {
      // Filters and the page of the list are of the former cloud.
      if (search !== '') void navigate(pathname, { replace: true })
      void chooseCloud(cloud)
      return
    }
    setWanted({ from: pathname, cloud })
    void navigate(to, { state: { cloud: cloud.cloud_id } })
  }

  // Section 4: first the page, then the choice. Who was asked whether to leave a form, and stayed, chose nothing.
  useEffect(() => {
    if (wanted === null || pathname === wanted.from) return
    setWanted(null)
    if (isRecord(state) && state['cloud'] === wanted.cloud.cloud_id) void chooseCloud(wanted.cloud)
  }, [wanted, pathname, state])

  if (selected === null) return <span className="zs-soft">{loading ? '' : t('cloud.none')}</span>
  return (
    <Dropdown
      {...focus}
      trigger={['click']}
      menu={{
        selectable: true,
        selectedKeys: [selected.cloud_id],
        items: list.map((cloud) => ({ key: cloud.cloud_id, label: <CloudLine cloud={cloud} /> })),
        onClick: ({ key, domEvent }) => {
          endKey(domEvent)
          const cloud = list.find((one) => one.cloud_id === key)
          if (cloud !== undefined && cloud.cloud_id !== selected.cloud_id) choose(selected, cloud)
        },
      }}
    >
      <Button className="frame-cloud-button" icon={<CloudOutlined aria-hidden />} aria-haspopup="menu">
        <span className="zs-hidden">{t('cloud.choose')}</span>
        <CloudLine cloud={selected} labels={!narrow} />
        <DownOutlined className="frame-caret" aria-hidden />
      </Button>
    </Dropdown>
  )
}

import CloudOutlined from '@ant-design/icons/es/icons/CloudOutlined'
import DownOutlined from '@ant-design/icons/es/icons/DownOutlined'
import Button from 'antd/es/button'
import Dropdown from 'antd/es/dropdown'
import { useTranslation } from '../i18n.ts'
import { useNavigate } from 'react-router'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { endKey, usePopupFocus } from '../kit/focus.ts'
import type { Route } from '../routes.ts'
import { chooseCloud, useClouds } from '../session/cloud.ts'
import { CloudLine } from '../kit/CloudLabels.tsx'
import { pathAfterCloudChange } from './cloudChange.ts'
import './frame.css'

/** Chooses the cloud that the pages of the two cloud families are about. */
export function CloudSwitcher({ route, narrow }: { readonly route: Route; readonly narrow: boolean }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const focus = usePopupFocus()
  const { list, selected, loading } = useClouds()

  const choose = async (cloud: CloudBasic): Promise<void> => {
    const to = pathAfterCloudChange(route, cloud)
    // Section 4: first the page of the other family, then the choice.
    if (to !== null) await navigate(to)
    await chooseCloud(cloud)
  }

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
          if (cloud !== undefined && cloud.cloud_id !== selected.cloud_id) void choose(cloud)
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

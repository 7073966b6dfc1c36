import Button from 'antd/es/button'
import { clouds } from '@zhisuan/contract/cmp/cloud'
import { useTranslation } from '../i18n.ts'
import { Link } from 'react-router'
import { EmptyState } from './EmptyState.tsx'
import { paths } from '../paths.ts'
import { chooseCloud, familyOf, useClouds, type CloudFamily } from '../session/cloud.ts'
import { useMayCall } from '../session/user.ts'
import './panel.css'

/** In the place of a page, where the chosen cloud is of the other family or there is none: the ways to one that fits. */
export default function NoCloudView({ family }: { readonly family: CloudFamily }) {
  const { t } = useTranslation()
  const mayRegister = useMayCall(clouds.create)
  const { list, selected } = useClouds()
  const fitting = list.filter((cloud) => familyOf(cloud) === family)
  const note = fitting.length > 0 ? t('noCloud.switch') : mayRegister ? t(`noCloud.register.${family}`) : t('noCloud.ask')
  return (
    <div className="zs-card">
      <EmptyState
        title={selected === null ? t(list.length > 0 ? 'noCloud.named' : 'noCloud.none') : t('noCloud.other', { name: selected.name })}
        action={
          fitting.length > 0 ? (
            <div className="zs-panel-buttons">
              {fitting.slice(0, 3).map((cloud, index) => (
                <Button key={cloud.cloud_id} type={index === 0 ? 'primary' : 'default'} onClick={() => void chooseCloud(cloud)}>
                  {t('noCloud.to', { name: cloud.name })}
                </Button>
              ))}
            </div>
          ) : (
            mayRegister && (
              <Link to={paths.platform.clouds()} className="zs-button">
                {t('noCloud.toClouds')}
              </Link>
            )
          )
        }
      >
        {note}
      </EmptyState>
    </div>
  )
}

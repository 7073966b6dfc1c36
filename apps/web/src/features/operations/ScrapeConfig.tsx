import CopyOutlined from '@ant-design/icons/es/icons/CopyOutlined'
import Button from 'antd/es/button'
import { useTranslation } from '../../i18n.ts'
import { copyText } from '../../kit/copy.ts'
import './operations.css'

/** What a Prometheus that is registered is to be told. @param withToken it stands in it, and in no later answer */
export function ScrapeConfig({ text, withToken = false }: { readonly text: string; readonly withToken?: boolean }) {
  const { t } = useTranslation('operations')
  return (
    <>
      <p className="zs-soft">{t(withToken ? 'prometheus.configOnce' : 'prometheus.configNote')}</p>
      {/* Focusable, so that what is wider than the page can be scrolled by keyboard. */}
      <pre className="om-config" tabIndex={0}>
        {text}
      </pre>
      <Button size="small" icon={<CopyOutlined />} onClick={() => void copyText(text)}>
        {t('copy')}
      </Button>
    </>
  )
}

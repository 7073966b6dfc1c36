import DownloadOutlined from '@ant-design/icons/es/icons/DownloadOutlined'
import Button from 'antd/es/button'
import { exportFormats, type ExportFormat } from '@zhisuan/contract/exports'
import { useTranslation } from '../i18n.ts'

const texts = { csv: 'save.csv', xlsx: 'save.xlsx' } as const

/** Saves what a page shows as a file. */
export function SaveButtons({ pending, save }: { readonly pending: boolean; readonly save: (format: ExportFormat) => void }) {
  const { t } = useTranslation('kit')
  return exportFormats.map((format) => (
    <Button key={format} icon={<DownloadOutlined aria-hidden />} loading={pending} onClick={() => save(format)}>
      {t(texts[format])}
    </Button>
  ))
}

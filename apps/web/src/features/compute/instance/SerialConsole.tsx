import Button from 'antd/es/button'
import type { CloudBasic } from '@zhisuan/contract/cmp/cloud'
import { computeInstances, type ComputeInstance } from '@zhisuan/contract/compute/instance'
import { useRef, useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { Link } from 'react-router'
import { request } from '../../../api/client.ts'
import { copyText } from '../../../kit/copy.ts'
import { EmptyState } from '../../../kit/EmptyState.tsx'
import { Terminal } from '../../../kit/Terminal.tsx'
import { serialConsoleOf, whyNotInstance } from './instanceRules.ts'
import './instance.css'

/** The serial console of an instance, as a terminal. */
export function SerialConsole({ instance, cloud }: { readonly instance: ComputeInstance; readonly cloud: CloudBasic }) {
  const { t } = useTranslation('computeInstance')
  const off = whyNotInstance(t, 'console', instance, cloud)
  // What it printed last stays to be read when it goes off.
  const shown = useRef(off === null)
  shown.current ||= off === null
  const [size, setSize] = useState<string | null>(null)
  if (!shown.current) return <EmptyState title={off ?? ''} />
  const { id, name } = instance
  const { cloud_id } = cloud
  return (
    <>
      <div className="ci-serial-bar">
        <span className="zs-soft">{t('serial.note')}</span>
        {/* A serial line tells no size. */}
        {size !== null && (
          <span className="zs-soft">
            {t('serial.size')} <code className="zs-code">{size}</code>{' '}
            <Button size="small" onClick={() => void copyText(size)}>
              {t('serial.copy')}
            </Button>
          </span>
        )}
        <Link to={serialConsoleOf(id)} target="_blank" rel="noopener" className="zs-text-link">
          {t('serial.window')}
        </Link>
      </div>
      <div className="ci-serial">
        <Terminal
          key={`${cloud_id} ${id}`}
          resumeKey={`serial ${cloud_id} ${id}`}
          label={t('serial.label', { name })}
          open={(body) => request(computeInstances.serialConsole, { params: { cloud_id, id }, body })}
          onSize={(columns, rows) => setSize(`stty cols ${columns} rows ${rows}`)}
        />
      </div>
    </>
  )
}

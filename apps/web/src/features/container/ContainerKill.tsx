import { containers, type Container } from '@zhisuan/contract/cis/container'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useChange } from '../../api/hooks.ts'
import { SelectField } from '../../kit/SelectField.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { invalidatedByContainer } from './containerRules.ts'

const signals = ['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGUSR1', 'SIGUSR2'] as const
type Signal = (typeof signals)[number]

/** Sends a signal to the program of a container. */
export function ContainerKill({ container, onClose }: Dialog<{ container: Container }>) {
  const { t } = useTranslation('container')
  const [signal, setSignal] = useState<Signal>('SIGKILL')
  const kill = useChange(containers.action, { invalidates: invalidatedByContainer, silent: true })
  return (
    <FormDialog<{ signal: Signal }>
      title={t('kill.title', { name: container.name })}
      okText={t('kill.ok')}
      doneText={t('done.kill', { name: container.name, signal })}
      initialValues={{ signal }}
      onSubmit={(values) => kill.mutateAsync({ params: { id: container.id }, body: { action: 'kill', signal: values.signal } })}
      onClose={onClose}
    >
      <p>{t('kill.note')}</p>
      <SelectField<Signal> name="signal" label={t('kill.signal')} autoFocus values={signals} onChange={setSignal} />
    </FormDialog>
  )
}

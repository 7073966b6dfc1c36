import Button from 'antd/es/button'
import { serverGroupPolicies, serverGroups } from '@zhisuan/contract/compute/instance'
import { useState } from 'react'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import { RadioField } from '../../../kit/fields.tsx'
import { FormDialog } from '../../../kit/FormDialog.tsx'
import { NameField } from '../../../kit/NameFields.tsx'

/** Makes a server group beside the form that wants one. */
export function ServerGroupMake({
  cloudId,
  projectId,
  onMade,
}: {
  readonly cloudId: string
  readonly projectId: string | null
  readonly onMade: (id: string) => void
}) {
  const { t } = useTranslation('computeInstance')
  const [open, setOpen] = useState(false)
  const create = useChange(serverGroups.create, { invalidates: [serverGroups.list], silent: true, onDone: ({ id }) => onMade(id) })
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t('add.serverGroupMake')}</Button>
      {open && (
        <FormDialog<{ name: string; policy: (typeof serverGroupPolicies)[number] }>
          title={t('add.serverGroupMake')}
          okText={t('add.submit')}
          initialValues={{ policy: 'soft-anti-affinity' }}
          doneText={t('add.groupDone')}
          onClose={() => setOpen(false)}
          onSubmit={(body) => create.mutateAsync({ params: { cloud_id: cloudId }, body: { ...body, project_id: projectId } })}
        >
          <NameField schema={serverGroups.create.body.shape.name} />
          <RadioField name="policy" label={t('add.policy')} vertical values={serverGroupPolicies} labelOf={(value) => t(`add.policyOf.${value}`)} />
        </FormDialog>
      )}
    </>
  )
}

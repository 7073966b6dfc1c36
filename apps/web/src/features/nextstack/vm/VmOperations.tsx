import { errors } from '@zhisuan/contract/errors'
import type { Operation } from '@zhisuan/contract/operation'
import { vms, type Vm } from '@zhisuan/contract/nextstack/vm'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { OperationTable } from '../../../kit/OperationTable.tsx'
import { cancelText, operationText, stepText } from './vmOperationText.ts'
import { invalidatedByVm } from './vmRules.ts'

/** What was done to an instance; what has not ended can be cancelled. */
export function VmOperations({ vm }: { readonly vm: Vm }) {
  const { t } = useTranslation('nextstack')
  const cancel = useChange(vms.cancelOperation, { invalidates: invalidatedByVm })
  const cancelling = (one: Operation): Action => ({
    key: 'cancel',
    call: vms.cancelOperation,
    label: t('operation.cancel'),
    disabledReason: one.cancellable ? null : errors.operationNotCancellable.text,
    confirm: { title: t('operation.cancelTitle', { what: operationText(t, one.kind) }), body: cancelText(t, one.kind), keepText: t('operation.keep') },
    doneText: t('operation.cancelDone'),
    run: () => cancel.mutateAsync({ params: { id: vm.id, operation_id: one.id } }),
  })
  return (
    <OperationTable
      call={vms.operations}
      id={vm.id}
      busy={vm.operation_id !== null}
      texts={{ what: (kind) => operationText(t, kind), step: (kind, step) => stepText(t, kind, step) }}
      rowActions={(one) => (one.finished_at === null && one.status !== 'cancelling' ? [cancelling(one)] : [])}
    />
  )
}

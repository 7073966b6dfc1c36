import { eipCan, eips, type Eip } from '@zhisuan/contract/nextstack/eip'
import { useTranslation } from '../../../i18n.ts'
import { useChange } from '../../../api/hooks.ts'
import type { Action } from '../../../kit/actions.tsx'
import { allowed } from '../../../kit/allowed.ts'
import { PrepaidLost } from '../../../kit/price/PrepaidLost.tsx'
import { EipBind, EipEdit } from './EipDialogs.tsx'
import { invalidatedByEip } from './eipRules.ts'

/** What can be done to an outside address. */
export function useEipActions(): { readonly actionsOf: (eip: Eip) => readonly Action[] } {
  const { t } = useTranslation('network')
  const dialogs = {
    bind: (eip: Eip, close: () => void) => <EipBind eip={eip} onClose={close} />,
    edit: (eip: Eip, close: () => void) => <EipEdit eip={eip} onClose={close} />,
  }
  const unbind = useChange(eips.unbind, { invalidates: invalidatedByEip })
  const release = useChange(eips.release, { invalidates: invalidatedByEip })
  const whyNot = (action: keyof typeof eipCan, eip: Eip): string | null => allowed(eipCan, action, eip.status, t(`eip.status.${eip.status}`))
  const opening = (kind: keyof typeof dialogs, disabledReason: string | null, eip: Eip): Action => ({
    key: kind,
    call: kind === 'edit' ? eips.update : eips.bind,
    label: t(`eip.${kind}`),
    disabledReason,
    dialog: (close) => dialogs[kind](eip, close),
  })
  return {
    actionsOf: (eip) => {
      const { id, address } = eip
      return [
        eip.bound_to === null
          ? opening('bind', whyNot('bind', eip), eip)
          : {
              key: 'unbind',
              call: eips.unbind,
              label: t('eip.unbind'),
              danger: true,
              disabledReason: whyNot('unbind', eip),
              doneText: t('eip.unbound', { address }),
              confirm: { title: t('eip.unbindTitle', { address }), body: t('eip.unbindBody', { address, name: eip.bound_to.name }) },
              run: () => unbind.mutateAsync({ params: { id } }),
            },
        opening('edit', null, eip),
        {
          key: 'release',
          call: eips.release,
          label: t('eip.release'),
          danger: true,
          disabledReason: whyNot('release', eip),
          doneText: t('eip.released', { address }),
          confirm: {
            title: t('eip.releaseTitle', { address }),
            body: (
              <>
                {t('eip.releaseBody')}
                <PrepaidLost type="nextstack.eip" ids={[id]} />
              </>
            ),
          },
          run: () => release.mutateAsync({ params: { id } }),
        },
      ]
    },
  }
}

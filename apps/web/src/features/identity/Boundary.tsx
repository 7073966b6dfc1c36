import { boundaries } from '@zhisuan/contract/iam/grant'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { ActionMenu } from '../../kit/actions.tsx'
import { FormDialog } from '../../kit/FormDialog.tsx'
import type { Named } from '../../kit/SearchSelect.tsx'
import { PolicyField } from '../../kit/identitySelects.tsx'
import { invalidatedByGrant } from '../../kit/invalidatedByRights.ts'
import { invalidatedByBoundary } from './invalidated.ts'
import './identity.css'
import { useKeeping } from '../../session/keeping.ts'

const touched = [...invalidatedByGrant, ...invalidatedByBoundary]

interface Of {
  readonly of: 'user' | 'organisation'
  readonly id: string
  readonly name: string
}

function useSetBoundary(of: Of['of']) {
  const ofUser = useChange(boundaries.setOfUser, { invalidates: touched, silent: true })
  const ofOrganisation = useChange(boundaries.setOfOrganisation, { invalidates: touched, silent: true })
  return of === 'user' ? ofUser : ofOrganisation
}

/** What a user, or the people of an organisation, may be allowed at most: shown, set and taken away. */
export function Boundary({ of, id, name, current }: Of & { readonly current: Named | null }) {
  const { t } = useTranslation('identity')
  const { everybody, pages } = useKeeping()
  const end = useSetBoundary(of)
  return (
    <span className="identity-line">
      {current === null ? t('boundary.none') : <Link to={pages.policy.version(current.id)}>{current.name}</Link>}
      <ActionMenu
        label={t('boundary.title')}
        actions={
          !everybody
            ? []
            : [
                {
                  key: 'set',
                  call: of === 'user' ? boundaries.setOfUser : boundaries.setOfOrganisation,
                  label: t(current === null ? 'boundary.set' : 'boundary.change'),
                  dialog: (close) => <BoundaryDialog of={of} id={id} name={name} current={current} onClose={close} />,
                },
                ...(current === null
                  ? []
                  : [
                      {
                        key: 'remove',
                        call: of === 'user' ? boundaries.setOfUser : boundaries.setOfOrganisation,
                        label: t('boundary.remove'),
                        danger: true,
                        confirm: { title: t('boundary.removeTitle', { name }), body: t('boundary.removeBody', { name, policy: current.name }) },
                        doneText: t('boundary.removed'),
                        run: () => end.mutateAsync({ params: { id }, body: { policy_id: null } }),
                      },
                    ]),
              ]
        }
      />
    </span>
  )
}

function BoundaryDialog({ of, id, name, current, onClose }: Of & { readonly current: Named | null; readonly onClose: () => void }) {
  const { t } = useTranslation('identity')
  const set = useSetBoundary(of)
  return (
    <FormDialog<{ policy_id: string }>
      title={t('boundary.setTitle', { name })}
      okText={t('boundary.set')}
      initialValues={{ ...(current !== null && { policy_id: current.id }) }}
      onSubmit={(body) => set.mutateAsync({ params: { id }, body })}
      doneText={t('boundary.done')}
      onClose={onClose}
    >
      <PolicyField
        name="policy_id"
        label={t('boundary.policy')}
        extra={t(of === 'user' ? 'boundary.noteUser' : 'boundary.noteOrganisation')}
        missing={t('required')}
        platformOnly
        known={current ?? undefined}
      />
    </FormDialog>
  )
}

import { tasks, taskStates, type Task } from '@zhisuan/contract/omc/task'
import { kindText } from '@zhisuan/contract/kindTexts'
import { Link } from 'react-router'
import { useTranslation } from '../../i18n.ts'
import { actionText } from '../../kit/actionText.ts'
import { col } from '../../kit/columns.tsx'
import { filter } from '../../kit/filters.ts'
import { OperationSteps, operationTones } from '../../kit/OperationTable.tsx'
import { useIsPlatform } from '../../session/user.ts'
import { OnwardsTable } from './OnwardsTable.tsx'
import { useTaskActions, useTaskPage } from './taskActions.ts'

/** The task centre: long work on all that one may see. */
export default function TaskList() {
  const { t } = useTranslation('task')
  const { t: kit } = useTranslation('kit')
  const platform = useIsPlatform()
  const actions = useTaskActions()
  const pageOfTask = useTaskPage()
  return (
    <OnwardsTable<Task, typeof tasks.list>
      call={tasks.list}
      query={{}}
      columns={[
        col.text<Task>('what', t('column.what'), ({ kind }) => actionText(kind), { width: 180 }),
        col.custom<Task>(
          'about',
          t('column.about'),
          (task) => {
            const to = pageOfTask(task)
            const name = task.about.name || task.about.id
            return (
              <>
                {to === null ? name : <Link to={to}>{name}</Link>}
                <div className="zs-name-note">{kindText(task.about.kind)}</div>
              </>
            )
          },
          { width: 220 },
        ),
        col.status<Task>('status', t('column.status'), ({ status }) => ({ tone: operationTones[status], text: kit(`operation.status.${status}`) }), {
          width: 100,
        }),
        col.custom<Task>('progress', t('column.progress'), (task) => <OperationSteps operation={task} />, { width: 280 }),
        col.text<Task>('actor', t('column.actor'), ({ actor_name }) => actor_name, { width: 120 }),
        col.date<Task>('at', t('column.at'), ({ created_at }) => created_at),
        col.organisation<Task>(t('column.organisation'), { when: platform }),
      ]}
      filters={[
        filter.oneOf('state', t('state'), taskStates, (one) => t(`states.${one}`)),
        filter.select('mine', t('whose'), [
          { value: 'true', label: t('mine') },
          { value: 'false', label: t('others') },
        ]),
      ]}
      rowActions={actions}
      nameOf={({ about }) => about.name}
      empty={{ title: t('empty'), note: t('noneNote') }}
    />
  )
}

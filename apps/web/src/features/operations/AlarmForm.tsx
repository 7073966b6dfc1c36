import {
  alarmMetricNames,
  alarmMetrics,
  alarms,
  comparisons,
  noDataWays,
  receivers,
  severities,
  type Alarm,
  type AlarmMetric,
  type AlarmRule,
  type Severity,
} from '@zhisuan/contract/omc/alarm'
import type { BodyOf } from '@zhisuan/contract/define'
import { edges } from '@zhisuan/contract/ecrm/edge'
import Button from 'antd/es/button'
import Form from 'antd/es/form'
import { lazy, Suspense, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { useCall, useChange, useOne } from '../../api/hooks.ts'
import { notify } from '../../api/notify.ts'
import { useTranslation } from '../../i18n.ts'
import { RadioField, SwitchField, TextAreaField, TextField } from '../../kit/fields.tsx'
import { FormPage } from '../../kit/FormPage.tsx'
import { Gone } from '../../kit/Gone.tsx'
import { ErrorPanel } from '../../kit/ErrorPanel.tsx'
import { DescriptionField, NameField } from '../../kit/NameFields.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { usePageTitle } from '../../kit/PageHead.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { paths } from '../../paths.ts'
import { invalidatedByAlarm } from './alarmRules.ts'
import './operations.css'

const AlarmPreview = lazy(() => import('./AlarmPreview.tsx'))

interface Values {
  name: string
  description: string
  group: string
  severity: Severity
  way: 'metric' | 'promql'
  metric: AlarmMetric
  comparison: (typeof comparisons)[number]
  threshold: number
  node_ids: string[]
  rule: { query?: string }
  for_seconds: number
  no_data: (typeof noDataWays)[number]
  receiver_ids: string[]
  escalates: boolean
  after_minutes: number
  escalate_to: string[]
}
const { shape } = alarms.create.body
const [byMetric, byQuery] = shape.rule.options

/** Makes an alarm, or with an id changes it. */
export default function AlarmForm() {
  const { t } = useTranslation('operations')
  const { id = '' } = useParams()
  const query = useOne(alarms.get, { params: { id } }, { enabled: id !== '' })
  usePageTitle(id === '' ? t('alarm.create') : query.data === undefined ? null : t('alarm.editTitle', { name: query.data.name }))
  if (id === '') return <Editor alarm={null} />
  if (query.error?.status === 404) return <Gone title={t('alarm.gone')} back={t('alarm.back')} to={paths.operations.alarm.list()} />
  if (query.data === undefined) return query.error === null ? null : <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
  return <Editor key={query.data.id} alarm={query.data} />
}

function Editor({ alarm }: { readonly alarm: Alarm | null }) {
  const { t } = useTranslation('operations')
  const navigate = useNavigate()
  const [form] = Form.useForm<Values>()
  const create = useChange(alarms.create, { invalidates: invalidatedByAlarm, silent: true })
  const update = useChange(alarms.update, { invalidates: invalidatedByAlarm, silent: true })
  const { data: nodes } = useCall(edges.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const { data: ways } = useCall(receivers.list, { query: { page_size: 1000, sort: 'name' } }, { silent: true })
  const first: AlarmMetric = alarm?.rule.kind === 'metric' ? alarm.rule.metric : 'node_cpu'
  const way = Form.useWatch('way', form) ?? alarm?.rule.kind ?? 'metric'
  const metric = Form.useWatch('metric', form) ?? first
  const { unit, fixed, of } = alarmMetrics[metric]
  /** What suits the chosen metric most. */
  const suggest = (chosen: AlarmMetric): void => {
    const { bad, threshold, for_seconds, severity } = alarmMetrics[chosen]
    form.setFieldsValue({ comparison: bad === 'above' ? '>' : '<', threshold, for_seconds, severity })
  }

  const ruleOf = ({ comparison, threshold, node_ids, rule }: Pick<Values, 'comparison' | 'threshold' | 'node_ids' | 'rule'>): AlarmRule =>
    way === 'promql'
      ? { kind: 'promql', query: rule?.query ?? '' }
      : {
          kind: 'metric',
          metric,
          // What there is only one way to be wrong is not asked for.
          comparison: fixed || comparison === undefined ? (alarmMetrics[metric].bad === 'above' ? '>' : '<') : comparison,
          threshold: fixed || threshold === undefined ? alarmMetrics[metric].threshold : threshold,
          node_ids: of === 'node' ? (node_ids ?? []) : [],
        }
  const [tried, setTried] = useState<BodyOf<typeof alarms.preview> | null>(null)
  /** What is filled in so far, where that makes a rule. */
  const tryOut = async (): Promise<void> => {
    const fields = way === 'promql' ? [['rule', 'query'], 'for_seconds'] : ['threshold', 'for_seconds']
    const isWhole = await form.validateFields(fields).then(
      () => true,
      () => false,
    )
    if (isWhole) setTried({ rule: ruleOf(form.getFieldsValue()), for_seconds: form.getFieldValue('for_seconds') as number })
  }

  const submit = async ({
    name,
    description,
    group,
    severity,
    for_seconds,
    no_data,
    receiver_ids,
    escalates,
    after_minutes,
    escalate_to,
    ...values
  }: Values): Promise<void> => {
    const body = {
      name,
      description,
      group,
      severity,
      for_seconds,
      no_data: (way === 'promql' || of !== 'node') && no_data === 'keep' ? ('recover' as const) : no_data,
      receiver_ids,
      escalation: escalates ? { after_minutes, receiver_ids: escalate_to } : null,
      rule: ruleOf(values),
    }
    const saved = alarm === null ? await create.mutateAsync({ body }) : await update.mutateAsync({ params: { id: alarm.id }, body })
    notify('success', t('settings.saved', { name }))
    void navigate(paths.operations.alarm.detail(saved.id))
  }
  const suggested = alarmMetrics[first]
  const escalates = Form.useWatch('escalates', form) ?? (alarm !== null && alarm.escalation !== null)
  const receiverOptions = (ways?.items ?? []).map(({ id, name, kind }) => ({ value: id, label: `${name}（${t(`receiver.kinds.${kind}`)}）` }))

  return (
    <FormPage<Values>
      form={form}
      initialValues={{
        name: alarm?.name ?? '',
        description: alarm?.description ?? '',
        group: alarm?.group ?? '',
        severity: alarm?.severity ?? suggested.severity,
        way: alarm?.rule.kind ?? 'metric',
        metric: first,
        comparison: alarm?.rule.kind === 'metric' ? alarm.rule.comparison : '>',
        threshold: alarm?.rule.kind === 'metric' ? alarm.rule.threshold : suggested.threshold,
        node_ids: alarm?.rule.kind === 'metric' ? alarm.rule.node_ids : [],
        rule: { query: alarm?.rule.kind === 'promql' ? alarm.rule.query : '' },
        for_seconds: alarm?.for_seconds ?? suggested.for_seconds,
        no_data: alarm?.no_data ?? 'recover',
        receiver_ids: alarm?.receivers.map(({ id }) => id) ?? [],
        escalates: alarm !== null && alarm.escalation !== null,
        after_minutes: alarm?.escalation?.after_minutes ?? 15,
        escalate_to: alarm?.escalation?.receivers.map(({ id }) => id) ?? [],
      }}
      submitText={t('settings.save')}
      onCancel={() => void navigate(paths.operations.alarm.list())}
      onSubmit={submit}
    >
      <NameField schema={shape.name} />
      <TextField name="group" label={t('alarm.group')} extra={t('alarm.groupNote')} schema={shape.group} />
      <RadioField
        name="way"
        label={t('alarm.way')}
        extra={t(`alarm.wayNote.${way}`)}
        optionType="button"
        values={['metric', 'promql'] as const}
        labelOf={(one) => t(`alarm.ways.${one}`)}
      />
      {way === 'metric' ? (
        <>
          <SelectField<AlarmMetric>
            name="metric"
            label={t('alarm.metric')}
            showSearch={{ optionFilterProp: 'label' }}
            options={alarmMetricNames.map((one) => ({ value: one, label: t(`alarm.metrics.${one}`) }))}
            onChange={suggest}
          />
          {!fixed && (
            <>
              <SelectField<(typeof comparisons)[number]>
                name="comparison"
                label={t('alarm.comparison')}
                options={comparisons.map((one) => ({ value: one, label: t(`alarm.comparisons.${one}`) }))}
              />
              <NumberField
                name="threshold"
                label={unit === '' ? t('alarm.threshold') : t('alarm.thresholdIn', { unit })}
                schema={byMetric.shape.threshold}
                required
              />
            </>
          )}
          {of === 'node' && (
            <SelectField<string[]>
              name="node_ids"
              label={t('alarm.nodes')}
              mode="multiple"
              allowClear
              placeholder={t('alarm.allNodes')}
              showSearch={{ optionFilterProp: 'label' }}
              options={(nodes?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            />
          )}
        </>
      ) : (
        <TextAreaField
          name={['rule', 'query']}
          label={t('alarm.query')}
          extra={t('alarm.queryNote')}
          schema={byQuery.shape.query}
          rows={4}
          code
          placeholder="zhisuan_node_load1 > 32"
        />
      )}
      <NumberField name="for_seconds" label={t('alarm.forField')} extra={t('alarm.forNote')} schema={shape.for_seconds} required />
      <RadioField name="severity" label={t('alarm.severity')} optionType="button" values={severities} labelOf={(one) => t(`alarm.severities.${one}`)} />
      <RadioField
        name="no_data"
        label={t('alarm.noData')}
        optionType="button"
        values={noDataWays.filter((one) => (way === 'metric' && of === 'node') || one !== 'keep')}
        labelOf={(one) => t(`alarm.noDataWays.${one}`)}
        extra={t(`alarm.noDataNote.${way === 'metric' && of === 'node' ? 'metric' : 'promql'}`)}
      />
      <div className="om-try">
        <Button onClick={() => void tryOut()}>{t('alarm.preview.action')}</Button>
        {tried !== null && (
          <Suspense fallback={null}>
            <AlarmPreview asked={tried} />
          </Suspense>
        )}
      </div>
      <SelectField<string[]>
        name="receiver_ids"
        label={t('alarm.receivers')}
        extra={t('alarm.receiversNote')}
        mode="multiple"
        allowClear
        showSearch={{ optionFilterProp: 'label' }}
        notFoundContent={t('receiver.empty')}
        options={receiverOptions}
      />
      <SwitchField name="escalates" label={t('alarm.escalates')} extra={t('alarm.escalatesNote')} />
      {escalates && (
        <>
          <NumberField name="after_minutes" label={t('alarm.afterMinutes')} min={1} max={1440} required />
          <SelectField<string[]>
            name="escalate_to"
            label={t('alarm.escalateTo')}
            missing={t('alarm.escalateToMissing')}
            mode="multiple"
            allowClear
            showSearch={{ optionFilterProp: 'label' }}
            notFoundContent={t('receiver.empty')}
            options={receiverOptions}
          />
        </>
      )}
      <DescriptionField schema={shape.description} />
    </FormPage>
  )
}

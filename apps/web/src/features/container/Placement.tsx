import CheckCircleFilled from '@ant-design/icons/es/icons/CheckCircleFilled'
import WarningFilled from '@ant-design/icons/es/icons/WarningFilled'
import Form from 'antd/es/form'
import Select from 'antd/es/select'
import { useEffect, useRef } from 'react'
import { label, labelKey, type Edge } from '@zhisuan/contract/ecrm/edge'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useTranslation } from '../../i18n.ts'
import { Link } from 'react-router'
import { paths } from '../../paths.ts'
import { NumberField } from '../../kit/NumberField.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { RadioField } from '../../kit/fields.tsx'
import { labelOf, labelText, placementOf, type PlacementValues } from '../../kit/placementForm.ts'
import { useNodes } from './useNodes.ts'
import { containers, containerSpec } from '@zhisuan/contract/cis/container'
import type { BodyInput } from '@zhisuan/contract/define'
import { useCall } from '../../api/hooks.ts'
import { errorText } from '../../api/toasts.ts'
import { blankSpec, specOf, type SpecValues } from './specForm.ts'
import { useSettled } from '../../kit/useSettled.ts'
import { refusing, wrongWith } from '../../kit/rules.ts'
import './container.css'

const some = refusing((values: readonly string[] | undefined) => (values ?? []).length === 0 && fieldTexts.chooseNodes)
const each = (schema: typeof label | typeof labelKey, valueOf: (text: string) => unknown) =>
  refusing((values: readonly string[] = []) => {
    const wrong = values.find((text) => wrongWith(schema, valueOf(text)) !== null)
    return wrong !== undefined && `${wrong}：${wrongWith(schema, valueOf(wrong)) ?? ''}`
  })

/**
 * Where a deployment goes: nodes by name, or all that have labels. Where one node alone can take it, that is chosen.
 * @param note what each chosen node gets
 * @param shared whether it may be a node that the platform shares
 */
export function PlacementFields({ note, shared = false }: { readonly note?: string; readonly shared?: boolean }) {
  const { t } = useTranslation('container')
  const nodes = useNodes(5_000, shared)
  // antd does not know the values of a form around it.
  const by = (Form.useWatch(['placement', 'by']) as PlacementValues['by'] | undefined) ?? 'nodes'
  const form = Form.useFormInstance<{ readonly placement: PlacementValues }>()
  const looked = useRef(false)
  useEffect(() => {
    if (looked.current || nodes.length === 0) return
    // Once: whoever takes it out again has said so.
    looked.current = true
    const fit = nodes.filter((node) => whyUnfit(node) === null)
    const chosen = form.getFieldValue(['placement', 'edge_ids']) as PlacementValues['edge_ids'] | undefined
    if (fit.length === 1 && (chosen ?? []).length === 0) form.setFieldValue(['placement', 'edge_ids'], [fit[0]?.id])
  }, [form, nodes])
  const known = (texts: readonly string[]) => [...new Set(texts)].toSorted().map((value) => ({ value, label: value }))
  return (
    <>
      <RadioField
        name={['placement', 'by']}
        label={t('field.placeBy')}
        optionType="button"
        options={[
          { value: 'nodes', label: t('field.byNodes') },
          { value: 'labels', label: t('field.byLabels') },
        ]}
      />
      {by === 'nodes' ? (
        <SelectField
          key="nodes"
          name={['placement', 'edge_ids']}
          label={t('field.nodes')}
          extra={nodes.length === 0 ? <NoNodes /> : (note ?? t('field.nodesNote'))}
          rules={[some]}
          required
          mode="multiple"
          maxCount={200}
          showSearch={{ optionFilterProp: 'title' }}
          notFoundContent={t('field.nodesNone')}
          options={nodes.map((node) => ({ value: node.id, title: node.name, label: <NodeOption node={node} />, disabled: whyUnfit(node) !== null }))}
        />
      ) : (
        <>
          <Form.Item
            key="labels"
            name={['placement', 'labels']}
            label={t('field.labels')}
            extra={t('field.labelsNote')}
            required
            rules={[some, each(label, labelOf)]}
          >
            <Select mode="tags" maxCount={16} tokenSeparators={[',', ' ']} options={known(nodes.flatMap(({ labels }) => labels.map(labelText)))} />
          </Form.Item>
          <NumberField name={['placement', 'count']} label={t('field.count')} extra={t('field.countNote')} min={1} max={200} className="cn-number" />
        </>
      )}
      <Form.Item name={['placement', 'tolerations']} label={t('field.tolerations')} extra={t('field.tolerationsNote')} rules={[each(labelKey, (text) => text)]}>
        <Select mode="tags" maxCount={16} tokenSeparators={[',', ' ']} options={known(nodes.flatMap(({ taints }) => taints.map(({ key }) => key)))} />
      </Form.Item>
    </>
  )
}

/** Without a node nothing runs. */
function NoNodes() {
  const { t } = useTranslation('container')
  return (
    <>
      {t('field.nodesFirst')}{' '}
      <Link className="zs-text-link" to={paths.container.node.add()}>
        {t('field.nodesAdd')}
      </Link>
    </>
  )
}

/** Why a node takes no container now; the server refuses by the same. */
const whyUnfit = ({
  status,
  activation,
  docker_trouble,
}: Pick<Edge, 'status' | 'activation' | 'docker_trouble'>): 'offline' | 'deactive' | 'pending' | 'dockerAway' | null => {
  if (status === 'offline') return 'offline'
  if (status !== 'online') return 'pending'
  if (activation === 'deactive') return 'deactive'
  return docker_trouble === null ? null : 'dockerAway'
}

function NodeOption({ node }: { readonly node: Edge }) {
  const { t } = useTranslation('container')
  const unfit = whyUnfit(node)
  const gpus = node.gpus.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      {node.name}{' '}
      <span className="zs-soft">
        {[
          unfit === null ? '' : t(`node.${unfit}`),
          node.shared_with === 'none' ? '' : t('node.shared'),
          node.addresses[0] ?? '',
          gpus === 0 ? '' : t('node.gpus', { count: gpus }),
        ]
          .filter((text) => text !== '')
          .join(' · ')}
      </span>
    </>
  )
}

/** Typing goes on for a while: it is asked about when it rests. */
const restMs = 600
/** Others take ports too. */
const againMs = 10_000

/** Which nodes a deployment would go to, and what is in its way there, as it is typed. */
export function PlacementCheck({
  values: { spec = blankSpec, placement },
  hint,
}: {
  /** What does not say what runs asks for no port and no GPU. */
  readonly values: { readonly spec?: SpecValues; readonly placement: PlacementValues }
  /** What is said before there is anything to check. */
  readonly hint?: string
}) {
  const { t } = useTranslation('container')
  // Rows that are not typed to their end are not asked about.
  const ports = spec.ports.filter((row) => row?.host_port != null && row.container_port != null)
  const { gpus, ports: asked, image, cpu_limit, memory_limit_bytes } = specOf({ ...spec, ports })
  const named = containerSpec.shape.image.safeParse(image).success
  const written = useSettled(
    JSON.stringify({ spec: { ports: asked, gpus, cpu_limit, memory_limit_bytes, ...(named && { image }) }, placement: placementOf(placement) }),
    restMs,
  )
  // As it was written just above.
  const body = JSON.parse(written) as BodyInput<typeof containers.check>
  const whole = containers.check.body.safeParse(body)
  const { data, error, isPlaceholderData } = useCall(containers.check, { body }, { silent: true, enabled: whole.success, refreshMs: againMs })
  const nodes = whole.success ? (data?.nodes ?? []) : []
  const unfit = nodes.filter(({ problems }) => problems.length > 0).length
  const said = (): string => {
    if (!whole.success) return hint ?? t('check.empty')
    if (error !== null) return errorText(error)
    if (data === undefined) return t('check.running')
    if (nodes.length === 0) return t('check.none')
    return unfit === 0 ? t('check.summary', { fit: nodes.length }) : t('check.problems', { count: unfit })
  }
  return (
    <div className="zs-card" aria-busy={isPlaceholderData}>
      <h2>{t('check.title')}</h2>
      <p role="status" className={whole.success && (error !== null || unfit > 0) ? 'zs-bad' : 'zs-soft'}>
        {said()}
      </p>
      {(error === null || !whole.success) && (
        <ul className="cn-check">
          {nodes.map(({ id, name, problems, notes }) => (
            <li key={id}>
              {problems.length === 0 ? (
                <CheckCircleFilled className="cn-good" aria-label={t('check.fits')} />
              ) : (
                <WarningFilled className="zs-bad" aria-hidden />
              )}
              <span>
                <span className="zs-cut" title={name}>
                  {name}
                </span>
                {problems.map((problem) => (
                  <span key={problem} className="zs-bad cn-problem">
                    {problem}
                  </span>
                ))}
                {notes.map((note) => (
                  <span key={note} className="zs-soft cn-problem">
                    {note}
                  </span>
                ))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

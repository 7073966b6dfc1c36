import Form, { type Rule } from 'antd/es/form'
import InputNumber from 'antd/es/input-number'
import Radio from 'antd/es/radio'
import Select from 'antd/es/select'
import { label, labelKey, type Edge } from '@zhisuan/contract/ecrm/edge'
import { fieldTexts } from '@zhisuan/contract/texts'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'
import { paths } from '../../paths.ts'
import { labelOf, labelText, type PlacementValues } from './specForm.ts'
import { useNodes } from './useNodes.ts'

const some: Rule = {
  validator: async (_rule, values: readonly string[] | undefined) => {
    if ((values ?? []).length === 0) throw new Error(fieldTexts.chooseNodes)
  },
}
const each = (schema: typeof label | typeof labelKey, valueOf: (text: string) => unknown): Rule => ({
  validator: async (_rule, values: readonly string[] | undefined) => {
    for (const text of values ?? []) {
      const judged = schema.safeParse(valueOf(text))
      if (!judged.success) throw new Error(`${text}：${judged.error.issues[0]?.message ?? ''}`)
    }
  },
})

/**
 * Where a deployment goes: nodes by name, or all that have labels.
 * @param note what each chosen node gets
 */
export function PlacementFields({ note }: { readonly note?: string }) {
  const { t } = useTranslation('container')
  const nodes = useNodes(5_000)
  // antd does not know the values of a form around it.
  const by = (Form.useWatch(['placement', 'by']) as PlacementValues['by'] | undefined) ?? 'nodes'
  const known = (texts: readonly string[]) => [...new Set(texts)].toSorted().map((value) => ({ value, label: value }))
  return (
    <>
      <Form.Item name={['placement', 'by']} label={t('field.placeBy')}>
        <Radio.Group
          optionType="button"
          options={[
            { value: 'nodes', label: t('field.byNodes') },
            { value: 'labels', label: t('field.byLabels') },
          ]}
        />
      </Form.Item>
      {by === 'nodes' ? (
        <Form.Item
          key="nodes"
          name={['placement', 'edge_ids']}
          label={t('field.nodes')}
          extra={nodes.length === 0 ? <NoNodes /> : (note ?? t('field.nodesNote'))}
          required
          rules={[some]}
        >
          <Select
            mode="multiple"
            maxCount={200}
            showSearch
            optionFilterProp="title"
            notFoundContent={t('field.nodesNone')}
            options={nodes.map((node) => ({ value: node.id, title: node.name, label: <NodeOption node={node} />, disabled: whyUnfit(node) !== null }))}
          />
        </Form.Item>
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
          <Form.Item name={['placement', 'count']} label={t('field.count')} extra={t('field.countNote')}>
            <InputNumber<number> min={1} max={200} precision={0} className="cn-number" />
          </Form.Item>
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
const whyUnfit = ({ status, activation }: Pick<Edge, 'status' | 'activation'>): 'offline' | 'deactive' | 'pending' | null => {
  if (status === 'offline') return 'offline'
  if (status !== 'online') return 'pending'
  return activation === 'deactive' ? 'deactive' : null
}

function NodeOption({ node }: { readonly node: Edge }) {
  const { t } = useTranslation('container')
  const unfit = whyUnfit(node)
  const gpus = node.gpus.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      {node.name}{' '}
      <span className="zs-soft">
        {[unfit === null ? '' : t(`node.${unfit}`), node.addresses[0] ?? '', gpus === 0 ? '' : t('node.gpus', { count: gpus })]
          .filter((text) => text !== '')
          .join(' · ')}
      </span>
    </>
  )
}

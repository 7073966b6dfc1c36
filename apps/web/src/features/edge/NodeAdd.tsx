import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import { edges, type Enrolment, type Label, type Taint } from '@zhisuan/contract/ecrm/edge'
import { useState } from 'react'
import { useTranslation } from '../../i18n.ts'
import { useNavigate, useSearchParams } from 'react-router'
import { useChange } from '../../api/hooks.ts'
import { FormPage } from '../../kit/FormPage.tsx'
import { paths } from '../../paths.ts'
import './edge.css'
import { MarksFields } from './EdgeEdit.tsx'
import { invalidatedByEdge } from './edgeRules.ts'
import { DescriptionField, NameField } from './NameFields.tsx'
import { NodeEnrol } from './NodeEnrol.tsx'
import { SiteSelect } from './SiteSelect.tsx'

interface Values {
  name: string
  description: string
  site_id: string | null
  labels: Label[]
  taints: Taint[]
  confirm: 'auto' | 'manual'
}

/** Registers a node, or with `?id=` goes on with one that has not come yet. */
export default function NodeAdd() {
  const [search, setSearch] = useSearchParams()
  // Told once: who loads the page anew asks for another.
  const [told, setTold] = useState<{ readonly id: string; readonly enrolment: Enrolment } | null>(null)
  const id = search.get('id')
  if (id !== null) return <NodeEnrol key={id} id={id} enrolment={told?.id === id ? told.enrolment : null} onTold={(enrolment) => setTold({ id, enrolment })} />
  return (
    <NodeForm
      onMade={(made, enrolment) => {
        setTold({ id: made, enrolment })
        setSearch({ id: made }, { replace: true })
      }}
    />
  )
}

function NodeForm({ onMade }: { readonly onMade: (id: string, enrolment: Enrolment) => void }) {
  const { t } = useTranslation('edge')
  const navigate = useNavigate()
  const create = useChange(edges.create, { invalidates: invalidatedByEdge })
  return (
    <FormPage<Values>
      submitText={t('add.submit')}
      initialValues={{ name: '', description: '', site_id: null, labels: [], taints: [], confirm: 'manual' }}
      onCancel={() => void navigate(paths.container.node.list())}
      onSubmit={async (body) => {
        const { edge, enrolment } = await create.mutateAsync({ body })
        onMade(edge.id, enrolment)
      }}
      aside={
        <div className="zs-card">
          <h2 className="zs-heading">{t('add.needs')}</h2>
          <ul className="ed-needs">
            <li>{t('add.needsSystem')}</li>
            <li>{t('add.needsNode')}</li>
            <li>{t('add.needsDocker')}</li>
            <li>{t('add.needsNetwork')}</li>
          </ul>
        </div>
      }
    >
      <NameField kind="ecrm.edge" />
      <Form.Item name="site_id" label={t('field.site')} extra={t('field.siteNote')}>
        <SiteSelect />
      </Form.Item>
      <MarksFields />
      <Form.Item name="confirm" label={t('add.confirm')} extra={t('add.confirmNote')}>
        <Radio.Group
          options={[
            { value: 'manual', label: t('add.manual') },
            { value: 'auto', label: t('add.auto') },
          ]}
        />
      </Form.Item>
      <DescriptionField />
    </FormPage>
  )
}

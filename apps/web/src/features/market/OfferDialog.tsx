import { cards } from '@zhisuan/contract/market/card'
import { cardsMost, offers, type Offer } from '@zhisuan/contract/market/offer'
import type { BodyInput } from '@zhisuan/contract/define'
import { useTranslation } from '../../i18n.ts'
import { useCall, useChange } from '../../api/hooks.ts'
import { Field, MoneyField } from '../../kit/fields.tsx'
import { FormDialog, type Dialog } from '../../kit/FormDialog.tsx'
import { NumberField } from '../../kit/NumberField.tsx'
import { SelectField } from '../../kit/SelectField.tsx'
import { SizeInput } from '../../kit/SizeInput.tsx'
import './market.css'

type Values = BodyInput<typeof offers.create>
const { shape } = offers.create.body
const gib = 2 ** 30

/** Proposes an offer: which cards, what goes with each, and what the parts cost. */
export default function OfferDialog({ onClose }: Dialog<object>) {
  const { t } = useTranslation('market')
  const { data } = useCall(cards.list, { query: { page_size: 1_000 } }, { silent: true })
  const own = (data?.items ?? []).filter(({ provider }) => provider !== null)
  const nodes = new Map(own.map(({ edge }) => [edge.id, edge.name]))
  const create = useChange(offers.create, { invalidates: [offers.list], silent: true })
  return (
    <FormDialog<Values, Offer>
      width={680}
      title={t('offer.create')}
      okText={t('offer.createOk')}
      initialValues={{
        edge_id: null,
        most_cards: 1,
        cpus_per_card: 8,
        memory_bytes_per_card: 32 * gib,
        disk_bytes_per_card: 100 * gib,
        card_price: '',
        disk_price: '',
        stopped_disk_price: '',
      }}
      doneText={t('offer.created')}
      onClose={onClose}
      onSubmit={(body) => create.mutateAsync({ body: { ...body, edge_id: body.edge_id ?? null } })}
    >
      <SelectField
        name="card_model"
        label={t('column.card')}
        schema={shape.card_model}
        showSearch
        options={[...new Set(own.map(({ model }) => model))].map((model) => ({ value: model, label: model }))}
      />
      <SelectField
        name="edge_id"
        label={t('column.node')}
        extra={t('offer.nodeNote')}
        required={false}
        allowClear
        placeholder={t('offer.anyNode')}
        options={[...nodes].map(([value, label]) => ({ value, label }))}
      />
      <div className="mk-pair">
        <NumberField name="most_cards" label={t('field.mostCards')} min={1} max={cardsMost} />
        <NumberField name="cpus_per_card" label={t('field.cpusPerCard')} schema={shape.cpus_per_card} />
        <Field name="memory_bytes_per_card" label={t('field.memoryPerCard')} schema={shape.memory_bytes_per_card}>
          <SizeInput />
        </Field>
        <Field name="disk_bytes_per_card" label={t('field.diskPerCard')} schema={shape.disk_bytes_per_card}>
          <SizeInput />
        </Field>
        <MoneyField name="card_price" label={t('field.cardPrice')} schema={shape.card_price} />
        <MoneyField name="disk_price" label={t('field.diskPrice')} schema={shape.disk_price} />
        <MoneyField name="stopped_disk_price" label={t('field.stoppedDiskPrice')} schema={shape.stopped_disk_price} />
      </div>
    </FormDialog>
  )
}

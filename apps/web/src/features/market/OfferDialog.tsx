import Form from 'antd/es/form'
import Radio from 'antd/es/radio'
import { cards } from '@zhisuan/contract/market/card'
import { cardsMost, graceSeconds, offerModes, offerPeriods, offers, type Offer } from '@zhisuan/contract/market/offer'
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
const orNone = (price: string | null | undefined): string | null => (price === undefined || price === '' ? null : price)

/** Proposes an offer: which cards, what goes with each, and what the parts cost. */
export default function OfferDialog({ onClose }: Dialog<object>) {
  const { t } = useTranslation('market')
  const [form] = Form.useForm<Values>()
  const mode = Form.useWatch('mode', form) ?? 'onDemand'
  const { data } = useCall(cards.list, { query: { page_size: 1_000 } }, { silent: true })
  const own = (data?.items ?? []).filter(({ provider }) => provider !== null)
  const nodes = new Map(own.map(({ edge }) => [edge.id, edge.name]))
  const create = useChange(offers.create, { invalidates: [offers.list], silent: true })
  return (
    <FormDialog<Values, Offer>
      form={form}
      width={680}
      title={t('offer.create')}
      okText={t('offer.createOk')}
      initialValues={{
        edge_id: null,
        mode: 'onDemand',
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
      onSubmit={({ mode: chosen, day_price, week_price, month_price, grace_seconds, ...body }) =>
        create.mutateAsync({
          body: {
            ...body,
            edge_id: body.edge_id ?? null,
            mode: chosen,
            ...(chosen === 'interruptible'
              ? { grace_seconds: grace_seconds ?? null }
              : { day_price: orNone(day_price), week_price: orNone(week_price), month_price: orNone(month_price) }),
          },
        })
      }
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
      <Form.Item name="mode" label={t('field.mode')} extra={t(`mode.${mode}Note`)}>
        <Radio.Group optionType="button" options={offerModes.map((value) => ({ value, label: t(`mode.${value}`) }))} />
      </Form.Item>
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
        {mode === 'interruptible' ? (
          <NumberField name="grace_seconds" label={t('field.grace')} extra={t('field.graceNote')} min={graceSeconds.least} max={graceSeconds.most} />
        ) : (
          offerPeriods.map((period) => (
            <MoneyField key={period} name={`${period}_price`} label={t(`field.${period}Price`)} schema={shape[`${period}_price`]} required={false} />
          ))
        )}
      </div>
    </FormDialog>
  )
}

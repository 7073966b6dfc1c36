import type { BodyOf, QueryOf, ResponseOf } from '@zhisuan/contract/define'
import {
  alarmCan,
  alarmMetricNames,
  alarmMetrics,
  type Alarm,
  type AlarmRule,
  type alarms,
  type AlarmWindow,
  type alarmWindows,
  type AlertLog,
  type alertLogs,
  type Delivery,
  type Receiver,
  type receivers,
} from '@zhisuan/contract/omc/alarm'
import { authoredBy, refuseOwnerless, scopeOf, type Actor } from '../../../platform/auth/actor.ts'
import { iso, isoOrNull, type Tx } from '../../../platform/db/database.ts'
import { shapedPage } from '../../../platform/db/page.ts'
import { refusing } from '../../../platform/db/refusing.ts'
import { found, Refusal, refuseUnless } from '../../../platform/errors.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { forgetReceiverInSubscriptions } from '../event/subscription.store.ts'
import { refuseUnfit } from '../query/tenant.ts'
import { statNodes } from '../stats/stats.store.ts'
import * as store from './alarm.store.ts'
import { alarmTexts as texts } from './alarm.texts.ts'
import { receiverPlace, type ReceiverPlace } from './channels.ts'
import { sealedAt, type Dispatcher } from './dispatch.ts'
import type { Inbox } from './inbox.ts'
import type { RuleKeeper } from './ruleKeeper.ts'

type Alarms = typeof alarms
type Logs = typeof alertLogs
type Receivers = typeof receivers
type Windows = typeof alarmWindows

/** Of one organisation. */
const alarmsMost = 100
const windowsMost = 200
const previewDays = 7
const previewStepSeconds = 600
const receiversMost = 20
const zoneMs = 8 * 3_600_000
const dayMs = 86_400_000
/** Of Beijing. */
const dayOf = (at: Date): string => new Date(at.getTime() + zoneMs).toISOString().slice(0, 10)
const startOf = (day: string): Date => new Date(Date.parse(`${day}T00:00:00Z`) - zoneMs)

export type AlarmService = ReturnType<typeof createAlarmService>

export interface AlarmParts {
  readonly inbox: Inbox
  readonly keeper: RuleKeeper
  readonly dispatcher: Pick<Dispatcher, 'placeOf'>
  /** Whether something may be sent there at all. */
  readonly checkUrl: (url: URL) => Promise<void>
}

export function createAlarmService({ db, now, secrets }: Pick<Platform, 'db' | 'now' | 'secrets'>, { inbox, keeper, dispatcher, checkUrl }: AlarmParts) {
  const shape = (row: store.ShownAlarm): Alarm => ({
    id: row.id,
    name: row.name,
    description: row.description,
    group: row.group,
    severity: row.severity,
    rule: row.rule,
    for_seconds: row.for_seconds,
    no_data: row.no_data,
    receivers: row.receivers,
    escalation: row.escalate_after_minutes === null ? null : { after_minutes: row.escalate_after_minutes, receivers: row.escalate_receivers },
    status: row.status,
    rule_state: row.rule_state,
    rule_error: row.rule_error,
    firing_count: row.firing_count,
    bp_id: row.bp_id,
    bp_name: row.bp_name,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  const shapeLog = (row: store.ShownAlertLog): AlertLog => ({
    id: row.id,
    alarm: row.alarm_id === null ? null : { id: row.alarm_id, name: row.current_name ?? row.alarm_name },
    name: row.alarm_name,
    severity: row.severity,
    status: row.status,
    summary: row.summary,
    labels: row.labels,
    value: row.value,
    starts_at: iso(row.starts_at),
    ends_at: isoOrNull(row.ends_at),
    processed: row.processed_at === null ? null : { by: row.processed_by ?? '', at: iso(row.processed_at), note: row.note ?? '' },
    silenced_until: isoOrNull(row.silenced_until),
    held: row.status === 'firing' && row.held_until !== null ? row.held_why : null,
    escalated_at: isoOrNull(row.escalated_at),
    bp_id: row.bp_id,
    bp_name: row.bp_name,
  })
  const shapeReceiver = (row: store.ShownReceiver): Receiver => ({
    id: row.id,
    name: row.name,
    kind: row.kind,
    target: row.target,
    has_secret: row.has_secret,
    hours: row.hours,
    alarm_count: row.alarm_count,
    last: row.last,
    bp_id: row.bp_id,
    bp_name: row.bp_name,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })
  const shapeDelivery = (row: store.DeliveryRow): Delivery => ({
    id: row.id,
    what: row.what,
    summary: row.summary,
    status: row.status,
    attempts: row.attempts,
    error: row.error,
    created_at: iso(row.created_at),
    sent_at: isoOrNull(row.sent_at),
    next_at: row.status === 'waiting' ? iso(row.next_at) : null,
  })

  const shapeWindow = (row: store.ShownWindow): AlarmWindow => ({
    id: row.id,
    name: row.name,
    starts_at: iso(row.starts_at),
    ends_at: iso(row.ends_at),
    nodes: row.nodes,
    everything: row.node_ids.length === 0,
    status: row.ends_at <= now() ? 'over' : row.starts_at > now() ? 'planned' : 'lasting',
    bp_id: row.bp_id,
    bp_name: row.bp_name,
    created_by: row.created_by_name,
    created_at: iso(row.created_at),
  })
  const windowOf = ({ name, starts_at, ends_at, node_ids }: BodyOf<Windows['create']>) => ({
    name,
    starts_at: new Date(starts_at),
    ends_at: new Date(ends_at),
    node_ids: [...new Set(node_ids)],
  })

  const showWindow = async (actor: Actor, id: string): Promise<AlarmWindow> => shapeWindow(found(await store.showWindow(db, scopeOf(actor), id)))
  const show = async (actor: Actor, id: string): Promise<Alarm> => shape(found(await store.showAlarm(db, scopeOf(actor), id)))
  const showReceiver = async (actor: Actor, id: string): Promise<Receiver> => shapeReceiver(found(await store.showReceiver(db, scopeOf(actor), id)))
  const alarmTaken = { alarms_name: ['alarmNameTaken', 'name'] as const }
  const receiverTaken = { alarm_receivers_name: ['receiverNameTaken', 'name'] as const }

  /** That its nodes are there, its receivers are of the same organisation, and Prometheus understands it. @throws Refusal at the field */
  const judge = async (actor: Actor, bpId: string | null, { rule, receiver_ids, escalation, no_data }: BodyOf<Alarms['create']>): Promise<void> => {
    const told = [
      { field: 'receiver_ids', ids: [...new Set(receiver_ids)] },
      { field: 'escalation.receiver_ids', ids: [...new Set(escalation?.receiver_ids)] },
    ]
    for (const { field, ids } of told) if ((await store.countOwnReceivers(db, bpId, ids)) !== ids.length) throw new Refusal('receiverUnknown', { field })
    await judgeRule(actor, rule)
    // That nobody is there to ask does not make it wrong: it is tried before it is loaded.
    await keeper.judge({ rule, bp_id: bpId, no_data })
  }
  const judgeNodes = async (actor: Actor, ids: readonly string[], field: string): Promise<void> => {
    if (ids.length === 0) return
    const own = new Set((await statNodes(db, scopeOf(actor))).map(({ id }) => id))
    if (ids.some((id) => !own.has(id))) throw new Refusal('edgeUnknown', { field })
  }
  const judgeRule = async (actor: Actor, rule: AlarmRule): Promise<void> => {
    if (rule.kind === 'metric') await judgeNodes(actor, rule.node_ids, 'rule.node_ids')
    if (rule.kind === 'promql') refuseUnfit(rule.query)
  }
  const columnsOf = ({ rule, receiver_ids, escalation, ...body }: BodyOf<Alarms['create']>) => ({
    ...body,
    escalate_after_minutes: escalation?.after_minutes ?? null,
    escalate_receiver_ids: [...new Set(escalation?.receiver_ids)],
    rule: JSON.stringify(rule),
    receiver_ids: [...new Set(receiver_ids)],
  })
  const change = async <T>(names: Parameters<typeof refusing>[0], act: (tx: Tx) => Promise<T>): Promise<T> =>
    refusing(names, () =>
      db.transaction().execute(async (tx) => {
        const answer = await act(tx)
        await keeper.changed(tx)
        return answer
      }),
    )

  /** Where a receiver goes to, with what stays of it. @throws Refusal at the field */
  const placeOf = async (body: BodyOf<Receivers['create']>, before: ReceiverPlace | null): Promise<ReceiverPlace> => {
    if (body.kind === 'mail') return { kind: 'mail', addresses: [...new Set(body.addresses)] }
    const kept = before !== null && before.kind === body.kind ? before : null
    const url = body.url ?? kept?.url
    if (url === undefined) throw new Refusal('receiverUrlMissing', { field: 'url' })
    await checkUrl(new URL(url)).catch((error: unknown) => {
      throw new Refusal('receiverForbidden', { field: 'url', cause: error })
    })
    return receiverPlace.parse({ kind: body.kind, url, secret: body.secret === undefined ? (kept?.secret ?? null) : body.secret })
  }
  const hoursOf = ({ hours }: BodyOf<Receivers['create']>): string | null =>
    hours === null ? null : JSON.stringify({ ...hours, days: [...new Set(hours.days)].toSorted() })
  const targetOf = (place: ReceiverPlace): string => (place.kind === 'mail' ? place.addresses.join('、') : new URL(place.url).host)
  const sealed = (id: string, place: ReceiverPlace) => ({
    sealed: secrets.seal(JSON.stringify(place), sealedAt(id)),
    target: targetOf(place),
    has_secret: place.kind !== 'mail' && place.secret !== null,
  })

  return {
    list: (actor: Actor, query: QueryOf<Alarms['list']>): Promise<ResponseOf<Alarms['list']>> => shapedPage(store.listAlarms(db, scopeOf(actor), query), shape),
    get: show,
    groups: async (actor: Actor): Promise<ResponseOf<Alarms['groups']>> => ({ items: await store.alarmGroups(db, scopeOf(actor)) }),
    metrics: (): ResponseOf<Alarms['metrics']> => ({
      items: alarmMetricNames.map((metric) => {
        const { unit, bad, threshold, for_seconds, severity } = alarmMetrics[metric]
        return { metric, unit, comparison: bad === 'above' ? '>' : '<', threshold, for_seconds, severity }
      }),
    }),

    /** @throws Refusal at the field, `monitorBusy` where Prometheus does not answer */
    async preview(actor: Actor, { rule, for_seconds }: BodyOf<Alarms['preview']>): Promise<ResponseOf<Alarms['preview']>> {
      const scope = scopeOf(actor)
      if ('nothing' in scope) throw new Refusal('noPermission')
      await judgeRule(actor, rule)
      const seen = await keeper.past({ rule, bp_id: actor.bp_id }, now(), previewDays * 86_400, previewStepSeconds)
      const points = seen ?? []
      const steps = Math.floor(for_seconds / previewStepSeconds) + 1
      // It begins where it was so for as long as it has to be.
      let [times, lasts] = [0, 0]
      for (const { count } of points) {
        lasts = count > 0 ? lasts + 1 : 0
        if (lasts === steps) times++
      }
      return { known: seen !== null, items: points.map(({ at, count }) => ({ at: iso(at), count })), times, interval_seconds: previewStepSeconds }
    },

    async create(actor: Actor, body: BodyOf<Alarms['create']>): Promise<Alarm> {
      refuseOwnerless(scopeOf(actor))
      await judge(actor, actor.bp_id, body)
      const id = uuidv7()
      await change(alarmTaken, async (tx) => {
        if ((await store.countOwn(tx, 'alarms', actor.bp_id)) >= alarmsMost) throw new Refusal('alarmsTooMany', { values: { limit: alarmsMost } })
        await store.insertAlarm(tx, {
          id,
          bp_id: actor.bp_id,
          ...columnsOf(body),
          status: 'active',
          rule_state: 'waiting',
          rule_error: null,
          ...authoredBy(actor),
        })
      })
      return show(actor, id)
    },

    async update(actor: Actor, id: string, body: BodyOf<Alarms['update']>): Promise<Alarm> {
      const before = found(await store.showAlarm(db, scopeOf(actor), id))
      await judge(actor, before.bp_id, body)
      await change(alarmTaken, async (tx) => {
        const row = found(await store.lockAlarm(tx, scopeOf(actor), id))
        await store.updateAlarm(tx, id, { ...columnsOf(body), ...(row.status === 'active' && { rule_state: 'waiting' as const, rule_error: null }) })
      })
      return show(actor, id)
    },

    async delete(actor: Actor, id: string): Promise<void> {
      await change({}, async (tx) => {
        const row = found(await store.lockAlarm(tx, scopeOf(actor), id))
        await inbox.endOf(tx, row)
        await store.removeAlarm(tx, id)
      })
    },

    async act(actor: Actor, id: string, { action }: QueryOf<Alarms['activate']>): Promise<Alarm> {
      await change({}, async (tx) => {
        const row = found(await store.lockAlarm(tx, scopeOf(actor), id))
        refuseUnless(alarmCan[action === 'active' ? 'activate' : 'deactivate'], row)
        if (action === 'deactive') await inbox.endOf(tx, row)
        await store.updateAlarm(tx, id, { status: action, rule_state: 'waiting', rule_error: null })
      })
      return show(actor, id)
    },

    logs: (actor: Actor, query: QueryOf<Logs['list']>): Promise<ResponseOf<Logs['list']>> =>
      shapedPage(store.listAlertLogs(db, scopeOf(actor), query), shapeLog),
    async counts(actor: Actor): Promise<ResponseOf<Logs['counts']>> {
      const { critical, warning, info, unprocessed, today } = await store.countAlertLogs(db, scopeOf(actor), startOf(dayOf(now())))
      return { firing: { critical, warning, info }, unprocessed, today }
    },
    async trend(actor: Actor, { days }: QueryOf<Logs['trend']>): Promise<ResponseOf<Logs['trend']>> {
      const last = dayOf(now())
      const first = dayOf(new Date(now().getTime() - (days - 1) * dayMs))
      return { items: await store.dailyAlertLogs(db, scopeOf(actor), first, last) }
    },
    async process(actor: Actor, id: string, { note, silence_minutes }: BodyOf<Logs['process']>): Promise<AlertLog> {
      await db.transaction().execute(async (tx) => {
        found(await store.lockAlertLog(tx, scopeOf(actor), id))
        const at = now()
        await store.updateAlertLog(tx, id, {
          processed_by: actor.name,
          processed_at: at,
          note,
          silenced_until: silence_minutes === 0 ? null : new Date(at.getTime() + silence_minutes * 60_000),
        })
      })
      return shapeLog(found(await store.showAlertLog(db, scopeOf(actor), id)))
    },

    receivers: (actor: Actor, query: QueryOf<Receivers['list']>): Promise<ResponseOf<Receivers['list']>> =>
      shapedPage(store.listReceivers(db, scopeOf(actor), query), shapeReceiver),
    async addReceiver(actor: Actor, body: BodyOf<Receivers['create']>): Promise<Receiver> {
      refuseOwnerless(scopeOf(actor))
      const id = uuidv7()
      const place = await placeOf(body, null)
      await refusing(receiverTaken, () =>
        db.transaction().execute(async (tx) => {
          if ((await store.countOwn(tx, 'alarm_receivers', actor.bp_id)) >= receiversMost)
            throw new Refusal('receiversTooMany', { values: { limit: receiversMost } })
          await store.insertReceiver(tx, {
            id,
            bp_id: actor.bp_id,
            name: body.name,
            kind: body.kind,
            hours: hoursOf(body),
            ...sealed(id, place),
            next_at: null,
            ...authoredBy(actor),
          })
        }),
      )
      return showReceiver(actor, id)
    },
    async changeReceiver(actor: Actor, id: string, body: BodyOf<Receivers['update']>): Promise<Receiver> {
      const before = found(await store.showReceiver(db, scopeOf(actor), id))
      if (before.kind !== body.kind) throw new Refusal('receiverKindFixed', { field: 'kind' })
      const place = await placeOf(body, dispatcher.placeOf(before))
      await refusing(receiverTaken, () => store.updateReceiver(db, id, { name: body.name, hours: hoursOf(body), ...sealed(id, place) }))
      return showReceiver(actor, id)
    },
    async deleteReceiver(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        found(await store.lockReceiver(tx, scopeOf(actor), id))
        await store.forgetReceiverInAlarms(tx, id)
        await forgetReceiverInSubscriptions(tx, id)
        await store.removeReceiver(tx, id)
      })
    },
    async testReceiver(actor: Actor, id: string): Promise<Delivery> {
      const receiver = found(await store.showReceiver(db, scopeOf(actor), id))
      const delivery = {
        id: uuidv7(),
        receiver_id: id,
        bp_id: receiver.bp_id,
        alert_log_id: null,
        what: 'test',
        severity: 'info',
        summary: texts.test,
        status: 'waiting',
        error: null,
        next_at: now(),
        claimed_until: null,
        sent_at: null,
      } as const
      await store.insertDelivery(db, delivery)
      return shapeDelivery(found(await store.getDelivery(db, id, delivery.id)))
    },
    async deliveries(actor: Actor, id: string, query: QueryOf<Receivers['deliveries']>): Promise<ResponseOf<Receivers['deliveries']>> {
      found(await store.showReceiver(db, scopeOf(actor), id))
      return shapedPage(store.listDeliveries(db, id, query), shapeDelivery)
    },
    async again(actor: Actor, id: string, deliveryId: string): Promise<Delivery> {
      found(await store.showReceiver(db, scopeOf(actor), id))
      const before = found(await store.getDelivery(db, id, deliveryId))
      if (before.status !== 'failed') throw new Refusal('deliveryNotFailed')
      await store.updateDelivery(db, deliveryId, { status: 'waiting', attempts: 0, next_at: now(), claimed_until: null })
      return shapeDelivery(found(await store.getDelivery(db, id, deliveryId)))
    },

    windows: (actor: Actor, query: QueryOf<Windows['list']>): Promise<ResponseOf<Windows['list']>> =>
      shapedPage(store.listWindows(db, scopeOf(actor), query), shapeWindow),
    async addWindow(actor: Actor, body: BodyOf<Windows['create']>): Promise<AlarmWindow> {
      refuseOwnerless(scopeOf(actor))
      await judgeNodes(actor, body.node_ids, 'node_ids')
      const id = uuidv7()
      await db.transaction().execute(async (tx) => {
        if ((await store.countOwn(tx, 'alarm_windows', actor.bp_id)) >= windowsMost)
          throw new Refusal('alarmWindowsTooMany', { values: { limit: windowsMost } })
        await store.holdWindows(tx, actor.bp_id, true)
        await store.insertWindow(tx, { id, bp_id: actor.bp_id, ...windowOf(body), ...authoredBy(actor) })
      })
      return showWindow(actor, id)
    },
    async changeWindow(actor: Actor, id: string, body: BodyOf<Windows['update']>): Promise<AlarmWindow> {
      await db.transaction().execute(async (tx) => {
        const { bp_id } = found(await store.lockWindow(tx, scopeOf(actor), id))
        await judgeNodes(actor, body.node_ids, 'node_ids')
        await store.holdWindows(tx, bp_id, true)
        await store.updateWindow(tx, id, windowOf(body))
        await store.releaseHeld(tx, bp_id, now())
      })
      await inbox.tellLater()
      return showWindow(actor, id)
    },
    async deleteWindow(actor: Actor, id: string): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const { bp_id } = found(await store.lockWindow(tx, scopeOf(actor), id))
        await store.holdWindows(tx, bp_id, true)
        await store.removeWindow(tx, id)
        await store.releaseHeld(tx, bp_id, now())
      })
      await inbox.tellLater()
    },
  }
}

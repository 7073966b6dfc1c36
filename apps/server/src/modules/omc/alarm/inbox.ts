import { createHash } from 'node:crypto'
import { alarmMetrics, severities, type Severity } from '@zhisuan/contract/omc/alarm'
import { fillText } from '@zhisuan/contract/errors'
import { z } from 'zod'
import { byId } from '@zhisuan/contract/define'
import type { Tx } from '../../../platform/db/database.ts'
import { uuidv7 } from '../../../platform/ids.ts'
import type { Platform } from '../../../platform/platform.ts'
import { isConnectionError } from '../../../platform/db/connections.ts'
import type { IntegrationRow } from '../integration/integration.store.ts'
import { organisationLabel } from '../query/tenant.ts'
import * as store from './alarm.store.ts'
import { alarmTexts as texts } from './alarm.texts.ts'
import { toldAt } from './hours.ts'
import { alarmLabel, severityLabel } from './rules.ts'

/** No database keeps these, and nobody reads them. */
const clean = (text: string, most: number): string => text.replaceAll('\0', '\uFFFD').toWellFormed().slice(0, most)
const boundedTexts = (most: number) =>
  z.record(z.string(), z.string()).transform((all) =>
    Object.fromEntries(
      Object.entries(all)
        .slice(0, 100)
        .map(([name, value]) => [clean(name, 256), clean(value, most)]),
    ),
  )

/** What is posted to an Alertmanager (its API v2, `postableAlerts`); what else is said is left alone, and what is too long is cut. */
const postedAlert = z.object({
  labels: boundedTexts(1_024),
  annotations: boundedTexts(4_096).default({}),
  startsAt: z.iso.datetime({ offset: true }),
  endsAt: z.iso.datetime({ offset: true }).optional(),
})
type PostedAlert = z.output<typeof postedAlert>

const alertsMost = 10_000
/** So many are read and written at a time: what was written is not lost by what comes after it, and nobody else waits for all of them. */
const atOnce = 200

/** Who tells: of what the platform runs the rules are ours, and it knows alarms; of one that is registered nothing is believed. */
export type Teller = Pick<IntegrationRow, 'id' | 'origin'>

const ours: ReadonlySet<string> = new Set([alarmLabel, severityLabel, organisationLabel, 'alertname'])
const summaryMost = 500
/** So soon it is asked again whether a node is still away. */
const lookAgainMs = 60_000
/** It is looked each minute whether everybody was there who tells; between two looks that are further apart nobody may have listened. */
const watchGapMs = 3 * 60_000

export type Inbox = ReturnType<typeof createInbox>

/** Takes what Prometheus tells: an episode is a row, however often it is told, and who has to know of it gets a row in the same transaction. */
export function createInbox({ db, log, now }: Pick<Platform, 'db' | 'log' | 'now'>) {
  const deliver = async (tx: Tx, row: store.AlertLogRow, what: 'firing' | 'resolved' | 'escalated', receiverIds: readonly string[]): Promise<void> => {
    const at = now()
    await store.insertDeliveries(
      tx,
      // One of them may have gone meanwhile.
      (await store.receiversByIds(tx, receiverIds)).map(({ id: receiver_id, hours }) => ({
        id: uuidv7(),
        receiver_id,
        bp_id: row.bp_id,
        alert_log_id: row.id,
        what,
        severity: row.severity,
        summary: row.summary,
        status: 'waiting',
        error: null,
        next_at: toldAt(hours, row.severity, at),
        claimed_until: null,
        sent_at: null,
      })),
    )
  }
  /** Why nobody is told of it now, and until when that is so. */
  const holdOf = async (tx: Tx, row: store.AlertLogRow, alarm: store.AlarmRow): Promise<{ until: Date; why: store.HoldReason } | null> => {
    const at = now()
    const nodeId = byId.safeParse({ id: row.labels['node_id'] }).data?.id ?? null
    await store.holdWindows(tx, alarm.bp_id, false)
    const until = await store.windowOver(tx, alarm.bp_id, nodeId, at)
    if (until !== undefined) return { until, why: 'maintenance' }
    const isOfNode = nodeId !== null && !(alarm.rule.kind === 'metric' && alarm.rule.metric === 'node_down')
    if (isOfNode && (await store.isNodeDown(tx, nodeId, alarm.bp_id))) return { until: new Date(at.getTime() + lookAgainMs), why: 'node' }
    return null
  }
  /**
   * What begins while it is held is told when it is held no more; of what is over by then nobody is told.
   * @returns whether anybody is told
   */
  const tellOf = async (tx: Tx, row: store.AlertLogRow, alarm: store.AlarmRow | undefined, news: 'firing' | 'resolved'): Promise<boolean> => {
    if (alarm === undefined || (row.silenced_until !== null && row.silenced_until > now())) return false
    if (news === 'resolved') {
      if (row.held_until !== null) return false
      // Who was told that it began is told that it is over, whoever is told by now; what was sent is not kept for ever.
      const told = await store.toldOfEpisode(tx, row.id)
      await deliver(tx, row, news, told.length > 0 ? told : alarm.receiver_ids)
      return true
    }
    const hold = await holdOf(tx, row, alarm)
    await store.updateAlertLog(
      tx,
      row.id,
      hold === null ? { held_until: null, held_why: null, told_first_at: now() } : { held_until: hold.until, held_why: hold.why },
    )
    if (hold === null) await deliver(tx, row, news, alarm.receiver_ids)
    return hold === null
  }

  const end = async (tx: Tx, row: store.AlertLogRow, alarm: store.AlarmRow | undefined): Promise<void> => {
    await store.updateAlertLog(tx, row.id, { status: 'resolved', ends_at: now() })
    await tellOf(tx, row, alarm, 'resolved')
  }

  const takeSome = async (alerts: readonly PostedAlert[], teller: Teller): Promise<void> => {
    const at = now()
    const idOf = ({ labels }: PostedAlert): string | null => (teller.origin !== 'kept' ? null : (byId.safeParse({ id: labels[alarmLabel] }).data?.id ?? null))
    const known = new Map((await store.alarmsByIds(db, [...new Set(alerts.flatMap((alert) => idOf(alert) ?? []))])).map((alarm) => [alarm.id, alarm]))
    const episodes = alerts
      .flatMap((alert) => {
        const id = idOf(alert)
        const alarm = id === null ? undefined : known.get(id)
        // Of an alarm that is gone, or off, its Prometheus does not know yet.
        if (id !== null && alarm?.status !== 'active') return []
        return [{ alarm, episode: episodeOf(alert, alarm, teller, at) }]
      })
      // In one order, so that two servers do not wait for each other.
      .toSorted((one, other) => Buffer.compare(one.episode.fingerprint, other.episode.fingerprint))
    const write = (some: typeof episodes): Promise<void> =>
      db.transaction().execute(async (tx) => {
        for (const { alarm, episode } of some) {
          const recorded = await store.recordEpisode(tx, episode)
          if (recorded === null) continue
          const isTold = await tellOf(tx, recorded.row, alarm, recorded.news)
          // It began and was over while nobody here was told.
          if (isTold && recorded.news === 'firing' && recorded.row.status === 'resolved') await tellOf(tx, recorded.row, alarm, 'resolved')
        }
      })
    try {
      await write(episodes)
    } catch (error) {
      if (isConnectionError(error)) throw error
      for (const one of episodes)
        await write([one]).catch((why: unknown) => {
          if (isConnectionError(why)) throw why
          log.warn({ err: why, integration: teller.id }, 'an alert that cannot be kept')
        })
    }
  }

  return {
    /**
     * Each by itself: one that is none, or cannot be kept, keeps no other.
     * @param alerts as they were posted
     * @param teller whose token was looked at
     */
    async take(alerts: readonly unknown[], teller: Teller): Promise<void> {
      const last = Math.min(alerts.length, alertsMost)
      for (let from = 0; from < last; from += atOnce)
        await takeSome(
          alerts.slice(from, Math.min(from + atOnce, last)).flatMap((alert) => postedAlert.safeParse(alert).data ?? []),
          teller,
        )
    },
    /** Ends what goes on of an alarm that is off, or goes. */
    async endOf(tx: Tx, alarm: store.AlarmRow): Promise<void> {
      for (let rows; (rows = await store.openEpisodes(tx, { alarmId: alarm.id })).length > 0;) for (const row of rows) await end(tx, row, alarm)
    },
    /** Tells of what is held no more, and more people of what nobody took up. */
    async tellLater(): Promise<void> {
      const alarmsOf = async (tx: Tx, rows: readonly store.AlertLogRow[]) =>
        new Map((await store.alarmsByIds(tx, [...new Set(rows.flatMap(({ alarm_id }) => alarm_id ?? []))])).map((one) => [one.id, one]))
      const untilFew = async (work: (tx: Tx) => Promise<number>): Promise<void> => {
        while ((await db.transaction().execute(work)) === store.laterAtOnce);
      }
      await untilFew(async (tx) => {
        const rows = await store.heldDue(tx, now())
        const alarms = await alarmsOf(tx, rows)
        for (const row of rows) {
          const alarm = row.alarm_id === null ? undefined : alarms.get(row.alarm_id)
          if (alarm === undefined) await store.updateAlertLog(tx, row.id, { held_until: null, held_why: null })
          else await tellOf(tx, row, alarm, 'firing')
        }
        return rows.length
      })
      await untilFew(async (tx) => {
        const rows = await store.toEscalate(tx, now())
        const alarms = await alarmsOf(tx, rows)
        for (const row of rows) {
          await store.updateAlertLog(tx, row.id, { escalated_at: now() })
          await deliver(tx, row, 'escalated', alarms.get(row.alarm_id ?? '')?.escalate_receiver_ids ?? [])
        }
        return rows.length
      })
    },
    /**
     * Ends what nobody tells any more, though whoever would tell it answers and somebody has listened all the time since: what
     * was not told while the platform was away is not over.
     * @param silentMs after which silence says so; null where nobody answers who would tell
     */
    async endSilent(silentMs: number | null): Promise<void> {
      await db.transaction().execute(async (tx) => {
        const at = now()
        const since = await store.watch(tx, at, silentMs === null ? null : new Date(at.getTime() - watchGapMs))
        if (silentMs === null || since.getTime() > at.getTime() - silentMs) return
        const rows = await store.openEpisodes(tx, { toldBefore: new Date(at.getTime() - silentMs) })
        const alarms = new Map((await store.alarmsByIds(tx, [...new Set(rows.flatMap(({ alarm_id }) => alarm_id ?? []))])).map((alarm) => [alarm.id, alarm]))
        for (const row of rows) await end(tx, row, row.alarm_id === null ? undefined : alarms.get(row.alarm_id))
      })
    },
  }
}

/** What one alert is as a row. Its alarm says whose it is and how bad, and not what was posted. */
function episodeOf(
  { labels, annotations, startsAt, endsAt }: PostedAlert,
  alarm: store.AlarmRow | undefined,
  teller: Teller,
  at: Date,
): store.NewEpisode & { fingerprint: Buffer } {
  const pairs = Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const ends = endsAt === undefined ? null : new Date(endsAt)
  const isOver = ends !== null && ends <= at
  const shown = Object.fromEntries(pairs.filter(([name]) => !ours.has(name)))
  const severity = alarm?.severity ?? severityOf(labels[severityLabel])
  return {
    id: uuidv7(),
    // What nobody of ours ruled is the platform's, whatever it says.
    bp_id: alarm?.bp_id ?? null,
    alarm_id: alarm?.id ?? null,
    alarm_name: (alarm?.name ?? labels['alertname'] ?? texts.external).slice(0, 200),
    fingerprint: createHash('sha256')
      .update(JSON.stringify(teller.origin === 'kept' ? pairs : [teller.id, pairs]))
      .digest(),
    starts_at: new Date(startsAt),
    ends_at: isOver ? ends : null,
    told_at: at,
    severity,
    status: isOver ? 'resolved' : 'firing',
    summary: summaryOf(alarm, labels, annotations).slice(0, summaryMost),
    labels: JSON.stringify(shown),
    // Not a number: nothing tells it any more, and it is kept.
    value: annotations['value'] === 'NaN' ? null : (annotations['value']?.slice(0, 64) ?? null),
    processed_by: null,
    processed_at: null,
    note: null,
    silenced_until: null,
  }
}

/** As pages write numbers; what is beyond them has few digits that say anything. */
const figures = new Intl.NumberFormat('zh-CN', { maximumFractionDigits: 2 })

const severityOf = (text: string | undefined): Severity => severities.find((one) => one === text) ?? 'warning'

/** Of what it is, and what, in a line that may be cut: `节点一 内存告警 内存使用率 当前值 95.2%`. */
function summaryOf(alarm: store.AlarmRow | undefined, labels: PostedAlert['labels'], annotations: PostedAlert['annotations']): string {
  const of = ['node', 'name', 'mount', 'gpu', 'device'].flatMap((name) => labels[name] ?? [])
  const where = of.length === 0 ? [labels['instance'] ?? ''] : of
  if (alarm === undefined)
    return [...where, labels['alertname'] ?? texts.external, annotations['summary'] ?? annotations['description'] ?? ''].filter((part) => part !== '').join(' ')
  const isMissing = labels['alertname'] === `${alarm.id}-missing`
  const metric = alarm.rule.kind === 'metric' ? alarm.rule.metric : null
  const figure = Number(annotations['value'])
  const value = isMissing
    ? texts.missing
    : metric !== null && alarmMetrics[metric].fixed
      ? ''
      : Number.isFinite(figure)
        ? fillText(texts.value, { value: figures.format(figure), unit: metric === null ? '' : alarmMetrics[metric].unit })
        : ''
  return [...where, alarm.name, metric === null ? '' : texts.metrics[metric], value].filter((part) => part !== '').join(' ')
}

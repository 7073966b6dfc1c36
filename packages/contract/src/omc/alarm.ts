import { z } from 'zod'
import { can } from '../can.ts'
import { byId, day, defineCall, empty, listOf, listQuery, moment } from '../define.ts'
import { reference } from '../resource.ts'
import { tenants } from '../roles.ts'
import { fieldTexts } from '../texts.ts'
import { description, email, keyword, name, plainLine, plainText } from '../validation.ts'

const base = '/api/omc/v1'
const alarmsPath = `${base}/alarms`
const receiversPath = `${base}/receivers`

/** Critical first wherever they are put in order. */
export const severities = ['critical', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

/**
 * What can be watched without PromQL: what is asked, in which unit it is told, and what suits most. `above`: it is bad when
 * it is higher. `of`: what it is about, of which only nodes are chosen: SELECTOR stands where they are named.
 */
export const alarmMetrics = {
  node_down: { of: 'node', unit: '', bad: 'below', threshold: 1, for_seconds: 120, severity: 'critical', expression: 'up{job="node"SELECTOR}', fixed: true },
  node_cpu: {
    of: 'node',
    unit: '%',
    bad: 'above',
    threshold: 90,
    for_seconds: 300,
    severity: 'warning',
    expression: '100 * zhisuan_node_cpu_ratio{job="node"SELECTOR}',
    fixed: false,
  },
  node_memory: {
    of: 'node',
    unit: '%',
    bad: 'above',
    threshold: 90,
    for_seconds: 300,
    severity: 'warning',
    expression: '100 * zhisuan_node_memory_used_bytes{job="node"SELECTOR} / zhisuan_node_memory_total_bytes{job="node"SELECTOR}',
    fixed: false,
  },
  node_disk: {
    of: 'node',
    unit: '%',
    bad: 'above',
    threshold: 85,
    for_seconds: 600,
    severity: 'warning',
    expression: '100 * zhisuan_node_disk_used_bytes{job="node"SELECTOR} / (zhisuan_node_disk_total_bytes{job="node"SELECTOR} > 0)',
    fixed: false,
  },
  node_load: {
    of: 'node',
    unit: '',
    bad: 'above',
    threshold: 32,
    for_seconds: 600,
    severity: 'info',
    expression: 'zhisuan_node_load1{job="node"SELECTOR}',
    fixed: false,
  },
  gpu_busy: {
    of: 'node',
    unit: '%',
    bad: 'above',
    threshold: 98,
    for_seconds: 1_800,
    severity: 'info',
    expression: '100 * zhisuan_gpu_ratio{job="node"SELECTOR}',
    fixed: false,
  },
  gpu_idle: {
    of: 'node',
    unit: '%',
    bad: 'below',
    threshold: 5,
    for_seconds: 3_600,
    severity: 'info',
    expression: '100 * zhisuan_gpu_ratio{job="node"SELECTOR}',
    fixed: false,
  },
  gpu_temperature: {
    of: 'node',
    unit: '℃',
    bad: 'above',
    threshold: 85,
    for_seconds: 300,
    severity: 'warning',
    expression: 'zhisuan_gpu_temperature_celsius{job="node"SELECTOR}',
    fixed: false,
  },
  gpu_lost: {
    of: 'node',
    unit: '',
    bad: 'above',
    threshold: 0,
    for_seconds: 60,
    severity: 'critical',
    expression: 'zhisuan_gpu_lost{job="node"SELECTOR}',
    fixed: true,
  },
  gpu_errors: {
    of: 'node',
    unit: '',
    bad: 'above',
    threshold: 0,
    for_seconds: 60,
    severity: 'critical',
    expression: 'zhisuan_gpu_uncorrected_errors{job="node"SELECTOR}',
    fixed: false,
  },
  instance_down: {
    of: 'instance',
    unit: '',
    bad: 'below',
    threshold: 1,
    for_seconds: 120,
    severity: 'critical',
    expression: 'zhisuan_instance_running{job="instance"}',
    fixed: true,
  },
  instance_memory: {
    of: 'instance',
    unit: '%',
    bad: 'above',
    threshold: 95,
    for_seconds: 600,
    severity: 'warning',
    expression: '100 * zhisuan_instance_memory_used_bytes{job="instance"} / (zhisuan_instance_memory_total_bytes{job="instance"} > 0)',
    fixed: false,
  },
  balance_low: {
    of: 'account',
    unit: '元',
    bad: 'below',
    threshold: 100,
    for_seconds: 0,
    severity: 'warning',
    expression: 'zhisuan_account_balance_yuan{job="account"}',
    fixed: false,
  },
} as const satisfies Readonly<
  Record<
    string,
    {
      of: 'node' | 'instance' | 'account'
      unit: string
      bad: 'above' | 'below'
      threshold: number
      for_seconds: number
      severity: Severity
      expression: string
      fixed: boolean
    }
  >
>
export type AlarmMetric = keyof typeof alarmMetrics
// Object.keys loses the key type, and z.enum wants to know that there is one.
export const alarmMetricNames = Object.keys(alarmMetrics) as [AlarmMetric, ...AlarmMetric[]]

export const comparisons = ['>', '>=', '<', '<='] as const

const threshold = z.number(fieldTexts.contentRequired).min(-1e15).max(1e15)
export const alarmRule = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('metric'),
    metric: z.enum(alarmMetricNames),
    comparison: z.enum(comparisons),
    threshold,
    /** Left empty: all that whoever it belongs to has. */
    node_ids: z.array(z.uuid()).max(100).default([]),
  }),
  z.object({
    kind: z.literal('promql'),
    /** What it answers fires, each series by itself. */
    query: z.string(fieldTexts.contentRequired).trim().min(1, fieldTexts.contentRequired).max(2_048).regex(plainText, fieldTexts.controlCharacters),
  }),
])
export type AlarmRule = z.output<typeof alarmRule>
/** Whether it watches a metric of nodes, which can be chosen, and of which it is known whether they tell anything. */
export const isOfNodes = (rule: { readonly kind: 'metric'; readonly metric: AlarmMetric } | { readonly kind: 'promql' }): boolean =>
  rule.kind === 'metric' && alarmMetrics[rule.metric].of === 'node'

export const alarmStatuses = ['active', 'deactive'] as const
export type AlarmStatus = (typeof alarmStatuses)[number]
export const alarmCan = can<AlarmStatus>()({ activate: ['deactive'], deactivate: ['active'] })

/** Whether its rule works: `waiting` to be loaded, `loaded`, `refused` by Prometheus, `none`: there is no Prometheus that could. */
export const ruleStates = ['waiting', 'loaded', 'refused', 'none'] as const

/**
 * What to do when what it asks of tells nothing any more: take it for in order, go on with what goes on (of a metric: of a
 * question nobody knows what is missing), or fire.
 */
export const noDataWays = ['recover', 'keep', 'alarm'] as const

const group = z.string().trim().max(64, fieldTexts.contentTooLong).regex(plainLine, fieldTexts.controlCharacters)
const forSeconds = z.int().min(0).max(86_400).default(60)
const body = z
  .object({
    name,
    description: description.default(''),
    /** By which lists put them together. */
    group: group.default(''),
    severity: z.enum(severities),
    rule: alarmRule,
    /** So long it has to be so. */
    for_seconds: forSeconds,
    no_data: z.enum(noDataWays).default('recover'),
    receiver_ids: z.array(z.uuid()).max(20).default([]),
    /** Whom else to tell where nobody has taken it up so many minutes after it was told. */
    escalation: z
      .object({ after_minutes: z.int().min(1).max(1_440), receiver_ids: z.array(z.uuid()).min(1, fieldTexts.contentRequired).max(20) })
      .nullable()
      .default(null),
  })
  .refine(({ rule, no_data }) => isOfNodes(rule) || no_data !== 'keep', { path: ['no_data'], error: fieldTexts.alarmKeep })
  .refine(({ rule }) => rule.kind !== 'metric' || rule.node_ids.length === 0 || isOfNodes(rule), { path: ['rule', 'node_ids'], error: fieldTexts.alarmNodes })

export const alarm = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  group: z.string(),
  severity: z.enum(severities),
  rule: alarmRule,
  for_seconds: z.int(),
  no_data: z.enum(noDataWays),
  receivers: z.array(reference),
  escalation: z.object({ after_minutes: z.int(), receivers: z.array(reference) }).nullable(),
  status: z.enum(alarmStatuses),
  rule_state: z.enum(ruleStates),
  /** Why Prometheus refused it. */
  rule_error: z.string().nullable(),
  /** Episodes that go on. */
  firing_count: z.int(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  created_by: z.string(),
  created_at: moment,
  updated_at: moment,
})
export type Alarm = z.output<typeof alarm>

export const alertStatuses = ['firing', 'resolved'] as const
export const holdReasons = ['maintenance', 'node'] as const

/** An episode: from when something was so until it was not any more, however often it was told. */
export const alertLog = z.object({
  id: z.uuid(),
  alarm: reference.nullable(),
  name: z.string(),
  severity: z.enum(severities),
  status: z.enum(alertStatuses),
  /** What it was, in a line. */
  summary: z.string(),
  labels: z.record(z.string(), z.string()),
  value: z.string().nullable(),
  starts_at: moment,
  ends_at: moment.nullable(),
  /** Who took it up, and what they wrote. */
  processed: z.object({ by: z.string(), at: moment, note: z.string() }).nullable(),
  /** Nobody is sent anything of it until then. */
  silenced_until: moment.nullable(),
  /** Nobody was told yet: during maintenance, or as its node is away, of which one is told anyway. */
  held: z.enum(holdReasons).nullable(),
  /** When more people were told, as nobody had taken it up. */
  escalated_at: moment.nullable(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
})
export type AlertLog = z.output<typeof alertLog>

const one = { params: byId } as const
const logFilters = {
  keyword,
  status: z.enum(alertStatuses).optional(),
  severity: z.enum(severities).optional(),
  processed: z.enum(['true', 'false']).optional(),
  alarm_id: z.uuid().optional(),
} as const

export const alertLogs = {
  list: defineCall({
    id: 'omc.alertLog.list',
    method: 'GET',
    path: `${alarmsPath}/alert-logs`,
    summary: 'Episodes of alarms, newest first',
    access: tenants,
    query: listQuery(['starts_at', 'severity'], logFilters),
    response: listOf(alertLog),
  }),
  counts: defineCall({
    id: 'omc.alertLog.counts',
    method: 'GET',
    path: `${alarmsPath}/alert-logs/counts`,
    summary: 'How many episodes go on, by severity, how many of them nobody has taken up, and how many began today',
    access: tenants,
    response: z.object({ firing: z.record(z.enum(severities), z.int()), unprocessed: z.int(), today: z.int() }),
  }),
  trend: defineCall({
    id: 'omc.alertLog.trend',
    method: 'GET',
    path: `${alarmsPath}/alert-logs/daily/trend`,
    summary: 'How many episodes began on each of the last days, by severity; days are Beijing’s',
    access: tenants,
    query: z.object({ days: z.coerce.number().int().min(1).max(90).default(14) }),
    response: z.object({ items: z.array(z.object({ day, critical: z.int(), warning: z.int(), info: z.int() })) }),
  }),
  process: defineCall({
    ...one,
    id: 'omc.alertLog.process',
    method: 'POST',
    path: `${alarmsPath}/alert-logs/process/{id}`,
    summary: 'Take an episode up, with a note, and have nobody told of it any more until then',
    access: tenants,
    body: z.object({
      note: z.string().trim().max(1_000).regex(plainText, fieldTexts.controlCharacters).default(''),
      silence_minutes: z
        .int()
        .min(0)
        .max(30 * 1_440)
        .default(0),
    }),
    response: alertLog,
  }),
} as const

export const alarms = {
  groups: defineCall({
    id: 'omc.alarm.groups',
    method: 'GET',
    path: `${alarmsPath}/groups`,
    summary: 'Groups that alarms are in, and how many there are in each',
    access: tenants,
    response: z.object({ items: z.array(z.object({ group: z.string(), count: z.int() })) }),
  }),
  metrics: defineCall({
    id: 'omc.alarm.metrics',
    method: 'GET',
    path: `${alarmsPath}/metrics`,
    summary: 'What can be watched without PromQL, with units and what suits most',
    access: tenants,
    response: z.object({
      items: z.array(
        z.object({
          metric: z.enum(alarmMetricNames),
          unit: z.string(),
          comparison: z.enum(comparisons),
          threshold: z.number(),
          for_seconds: z.int(),
          severity: z.enum(severities),
        }),
      ),
    }),
  }),
  list: defineCall({
    id: 'omc.alarm.list',
    method: 'GET',
    path: alarmsPath,
    summary: 'Alarms',
    access: tenants,
    query: listQuery(['name', 'created_at', 'severity'], {
      keyword,
      group: group.optional(),
      severity: z.enum(severities).optional(),
      status: z.enum(alarmStatuses).optional(),
    }),
    response: listOf(alarm),
  }),
  get: defineCall({ ...one, id: 'omc.alarm.get', method: 'GET', path: `${alarmsPath}/{id}`, summary: 'One alarm', access: tenants, response: alarm }),
  preview: defineCall({
    id: 'omc.alarm.preview',
    method: 'POST',
    path: `${alarmsPath}/preview`,
    summary: 'How often a rule would have fired in the last seven days: in how many places at each moment, and how many times it would have begun',
    access: tenants,
    audit: false,
    perMinute: 20,
    body: z.object({ rule: alarmRule, for_seconds: forSeconds }),
    response: z.object({
      /** Whether there is a Prometheus that could tell. */
      known: z.boolean(),
      items: z.array(z.object({ at: moment, count: z.int() })),
      times: z.int(),
      interval_seconds: z.int(),
    }),
  }),
  create: defineCall({
    id: 'omc.alarm.create',
    method: 'POST',
    path: alarmsPath,
    summary: 'Make an alarm. Its rule is tried first: what Prometheus does not understand is refused with what it says',
    access: tenants,
    status: 201,
    perMinute: 60,
    body,
    response: alarm,
  }),
  update: defineCall({
    ...one,
    id: 'omc.alarm.update',
    method: 'PUT',
    path: `${alarmsPath}/{id}`,
    summary: 'Change an alarm',
    access: tenants,
    perMinute: 60,
    body,
    response: alarm,
  }),
  delete: defineCall({
    ...one,
    id: 'omc.alarm.delete',
    method: 'DELETE',
    path: `${alarmsPath}/{id}`,
    summary: 'Delete an alarm; its episodes end and stay in the log',
    access: tenants,
    response: empty,
  }),
  activate: defineCall({
    ...one,
    id: 'omc.alarm.activate',
    method: 'PATCH',
    path: `${alarmsPath}/{id}`,
    summary: 'Activate or deactivate an alarm; episodes of one that is deactivated end',
    access: tenants,
    perMinute: 60,
    query: z.object({ action: z.enum(alarmStatuses) }),
    response: alarm,
  }),
} as const

/** Ways to somebody. The last three are robots of a group chat. */
export const receiverKinds = ['mail', 'webhook', 'wecom', 'dingtalk', 'feishu'] as const
export type ReceiverKind = (typeof receiverKinds)[number]

const url = z
  .url({ protocol: /^https?$/, error: fieldTexts.webhookUrl })
  .max(1024)
  .regex(/^[^#\s@]+$/, fieldTexts.webhookUrl)
const secret = z.string().min(1).max(256).regex(plainLine, fieldTexts.controlCharacters)
const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, fieldTexts.clock)
/** When somebody is told, by Beijing's time; what comes at other times waits. From 22:00 to 06:00 is over night. */
const hours = z.object({
  /** 1 is Monday. */
  days: z.array(z.int().min(1).max(7)).min(1, fieldTexts.contentRequired).max(7),
  from: clock,
  to: clock,
  /** What is critical does not wait. */
  critical_anyway: z.boolean().default(true),
})
export type ReceiverHours = z.output<typeof hours>
const receiverBody = z
  .object({
    /** Null: always. */
    hours: hours.nullable().default(null),
    name,
    kind: z.enum(receiverKinds),
    /** Of a mail. */
    addresses: z.array(email).max(10).default([]),
    /** Of all others. One that is left out stays: it may hold a key. */
    url: url.optional(),
    /** By which a webhook or a robot knows that it is us; one that is left out stays, null takes it away. */
    secret: secret.nullable().optional(),
  })
  .refine(({ kind, addresses }) => kind !== 'mail' || addresses.length > 0, { path: ['addresses'], error: fieldTexts.contentRequired })

export const receiver = z.object({
  id: z.uuid(),
  name: z.string(),
  kind: z.enum(receiverKinds),
  /** Addresses, or the host that it goes to: the rest may hold a key. */
  target: z.string(),
  has_secret: z.boolean(),
  hours: hours.nullable(),
  alarm_count: z.int(),
  /** How the last message went. */
  last: z.object({ status: z.enum(['waiting', 'sent', 'failed']), at: moment, error: z.string().nullable() }).nullable(),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  created_by: z.string(),
  created_at: moment,
})
export type Receiver = z.output<typeof receiver>

/** `waiting` for its turn or for another try. */
export const deliveryStatuses = ['waiting', 'sent', 'failed'] as const
export const delivery = z.object({
  id: z.uuid(),
  what: z.enum(['firing', 'resolved', 'escalated', 'event', 'test']),
  summary: z.string(),
  status: z.enum(deliveryStatuses),
  attempts: z.int(),
  error: z.string().nullable(),
  created_at: moment,
  sent_at: moment.nullable(),
  next_at: moment.nullable(),
})
export type Delivery = z.output<typeof delivery>

export const receivers = {
  list: defineCall({
    id: 'omc.receiver.list',
    method: 'GET',
    path: receiversPath,
    summary: 'Who is told of alarms, and how',
    access: tenants,
    query: listQuery(['name', 'created_at'], { keyword, kind: z.enum(receiverKinds).optional() }),
    response: listOf(receiver),
  }),
  create: defineCall({
    id: 'omc.receiver.create',
    method: 'POST',
    path: receiversPath,
    summary: 'Add one',
    access: tenants,
    status: 201,
    body: receiverBody,
    response: receiver,
  }),
  update: defineCall({
    ...one,
    id: 'omc.receiver.update',
    method: 'PUT',
    path: `${receiversPath}/{id}`,
    summary: 'Change one; its kind stays',
    access: tenants,
    body: receiverBody,
    response: receiver,
  }),
  delete: defineCall({
    ...one,
    id: 'omc.receiver.delete',
    method: 'DELETE',
    path: `${receiversPath}/{id}`,
    summary: 'Take one away; alarms that name it tell the others',
    access: tenants,
    response: empty,
  }),
  test: defineCall({
    ...one,
    outside: true,
    id: 'omc.receiver.test',
    method: 'POST',
    path: `${receiversPath}/{id}/test`,
    summary: 'Send it a message now, to see that it comes',
    access: tenants,
    perMinute: 20,
    response: delivery,
  }),
  deliveries: defineCall({
    ...one,
    id: 'omc.receiver.deliveries',
    method: 'GET',
    path: `${receiversPath}/{id}/deliveries`,
    summary: 'What it was sent, with tries and errors, newest first',
    access: tenants,
    query: listQuery(['created_at'], { status: z.enum(deliveryStatuses).optional() }),
    response: listOf(delivery),
  }),
  again: defineCall({
    params: byId.extend({ delivery_id: z.uuid() }),
    id: 'omc.receiver.again',
    method: 'POST',
    path: `${receiversPath}/{id}/deliveries/{delivery_id}`,
    summary: 'Send again what failed',
    access: tenants,
    response: delivery,
  }),
} as const

const windowBody = z
  .object({
    name,
    starts_at: moment,
    ends_at: moment,
    /** Left empty: all that whoever it belongs to has. */
    node_ids: z.array(z.uuid()).max(100).default([]),
  })
  .refine(({ starts_at, ends_at }) => Date.parse(ends_at) > Date.parse(starts_at), { path: ['ends_at'], error: fieldTexts.endsBeforeItStarts })
  .refine(({ starts_at, ends_at }) => Date.parse(ends_at) - Date.parse(starts_at) <= 31 * 86_400_000, { path: ['ends_at'], error: fieldTexts.windowTooLong })

/** While it lasts nobody is told of alarms; of what goes on at its end they are told then. */
export const alarmWindow = z.object({
  id: z.uuid(),
  name: z.string(),
  starts_at: moment,
  ends_at: moment,
  nodes: z.array(reference),
  /** Of all nodes, and of what is on none. */
  everything: z.boolean(),
  status: z.enum(['planned', 'lasting', 'over']),
  bp_id: z.uuid().nullable(),
  bp_name: z.string().nullable(),
  created_by: z.string(),
  created_at: moment,
})
export type AlarmWindow = z.output<typeof alarmWindow>

const windowsPath = `${alarmsPath}/windows`
export const alarmWindows = {
  list: defineCall({
    id: 'omc.alarmWindow.list',
    method: 'GET',
    path: windowsPath,
    summary: 'Times of maintenance, during which nobody is told of alarms',
    access: tenants,
    query: listQuery(['starts_at', 'name'], { keyword }),
    response: listOf(alarmWindow),
  }),
  create: defineCall({
    id: 'omc.alarmWindow.create',
    method: 'POST',
    path: windowsPath,
    summary: 'Plan one, or begin one now',
    access: tenants,
    status: 201,
    body: windowBody,
    response: alarmWindow,
  }),
  update: defineCall({
    ...one,
    id: 'omc.alarmWindow.update',
    method: 'PUT',
    path: `${windowsPath}/{id}`,
    summary: 'Change one; one that ends earlier has people told earlier',
    access: tenants,
    body: windowBody,
    response: alarmWindow,
  }),
  delete: defineCall({
    ...one,
    id: 'omc.alarmWindow.delete',
    method: 'DELETE',
    path: `${windowsPath}/{id}`,
    summary: 'Take one away; of what goes on people are told at once',
    access: tenants,
    response: empty,
  }),
} as const

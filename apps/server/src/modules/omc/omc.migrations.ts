import type { Integration, IntegrationStatus, MonitorComponent, PrometheusSettings } from '@zhisuan/contract/omc/monitor'
import type { ColumnType, Generated } from 'kysely'
import { tellsChanges } from '../../platform/changes.ts'
import { migration, type Migrations } from '../../platform/db/database.ts'

interface IntegrationTable {
  id: string
  /** Always null: they are the platform's. */
  bp_id: string | null
  name: string
  description: string
  component: MonitorComponent
  origin: 'kept' | 'registered'
  status: IntegrationStatus
  node_id: string | null
  port: number | null
  url: string | null
  username: string | null
  /** Sealed JSON of how it is reached, secrets included. */
  connection: string
  settings: ColumnType<PrometheusSettings, string, string>
  /** SHA-256 of what it says to us who it is by, where it asks what to scrape; null of what does not ask. */
  token_hash: Buffer | null
  health: Integration['health']
  health_message: string | null
  version: string | null
  checked_at: Date | null
  error: string | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    monitor_integrations: IntegrationTable
  }
}

export const omcMigrations: Migrations = {
  '20261129_50_monitor_integrations': migration(`
    create table monitor_integrations (
      id uuid primary key,
      bp_id uuid check (bp_id is null),
      name text not null,
      description text not null,
      component text not null check (component in ('prometheus', 'node_exporter')),
      origin text not null check (origin in ('kept', 'registered')),
      status text not null check (status in ('installing', 'active', 'changing', 'removing', 'error')),
      node_id uuid references edges,
      port integer,
      url text,
      username text,
      connection text not null,
      settings jsonb not null,
      token_hash bytea,
      health text not null,
      health_message text,
      version text,
      checked_at timestamptz,
      error text,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint monitor_integrations_place check ((origin = 'kept') = (node_id is not null))
    );
    create unique index monitor_integrations_name on monitor_integrations (name);
    create unique index monitor_integrations_one on monitor_integrations (node_id, component) where node_id is not null;
    ${tellsChanges('monitor_integrations', 'omc.integration', 'omc.prometheus')}
  `),
}

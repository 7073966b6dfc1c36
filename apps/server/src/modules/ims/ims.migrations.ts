import type { KeepRule } from '@zhisuan/contract/ims/project'
import type { Registry, RegistryEngine, RegistryStatus } from '@zhisuan/contract/ims/registry'
import type { preheatStates, PreheatStatus, ThirdRegistry } from '@zhisuan/contract/ims/preheat'
import type { ColumnType, Generated } from 'kysely'
import { migration, type Migrations } from '../../platform/db/database.ts'
import { tellsChanges } from '../../platform/changes.ts'

interface RegistryTable {
  id: string
  name: string
  description: string
  engine: RegistryEngine
  origin: 'kept' | 'registered'
  status: RegistryStatus
  region_id: string | null
  node_id: string | null
  url: string
  /** What stands before the first slash of its images. */
  address: string
  certificate_authority: string | null
  username: string | null
  /** Whether it takes our tokens. */
  ours: boolean
  /** Sealed JSON of how it is reached, secrets included. */
  connection: string
  /** SHA-256 of what it says to us who it is by, in what it tells of pushes and pulls. */
  notify_hash: Buffer | null
  health: Registry['health']
  health_message: string | null
  version: string | null
  checked_at: Date | null
  reconciled_at: Date | null
  reconcile_error: string | null
  collectable_bytes: Generated<number>
  collected_at: Date | null
  /** Until then somebody may have a token to push by. */
  push_until: Date | null
  /** Until then nobody is given one. */
  collecting_until: Date | null
  /** Of one that the platform runs: whose certificate, and its end. */
  tls_kind: 'ours' | 'given' | null
  tls_ends_at: Date | null
  error: string | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface RegistryUserTable {
  user_id: string
  /** argon2id. */
  hash: string
  set_at: Date
  used_at: Date | null
}
interface RegistryKeyTable {
  one: boolean
  /** RSA, PEM, sealed; and the certificate that registries know it by. */
  sealed: string
  certificate: string
}
interface RegistryAuthorityTable {
  one: boolean
  /** Its key, PEM, sealed. */
  sealed: string
  certificate: string
}
/** Somebody else's registry. */
interface ThirdRegistryTable {
  id: string
  /** Null: the platform's. */
  bp_id: string | null
  name: string
  description: string
  address: string
  url: string
  username: string | null
  /** Sealed JSON of how it is reached. */
  connection: string
  health: ThirdRegistry['health']
  health_message: string | null
  slowed_until: Date | null
  browsable: boolean
  checked_at: Date | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
/** Images that are to be brought to nodes. */
interface PreheatTable {
  id: string
  bp_id: string | null
  registry_id: string | null
  third_registry_id: string | null
  /** As Docker names them. */
  images: string[]
  status: PreheatStatus
  at_once: number
  starts_at: Date
  started_at: Date | null
  ended_at: Date | null
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  /** By whose rights it is pulled: who made it, or had it tried again. */
  ordered_by: string | null
}
interface PreheatTargetTable {
  id: string
  preheat_id: string
  edge_id: string
  image: string
  state: (typeof preheatStates)[number]
  layers: ColumnType<PreheatLayer[], string, string>
  done_bytes: Generated<number>
  total_bytes: number | null
  error: string | null
  attempts: Generated<number>
  /** Not before. */
  next_at: Date | null
  /** A server is at it until then, and says so again and again. */
  claimed_until: Date | null
  ended_at: Date | null
}
export interface PreheatLayer {
  id: string
  status: string
  done_bytes: number
  total_bytes: number | null
}
interface RegistryProjectTable {
  id: string
  registry_id: string
  name: string
  bp_id: string | null
  description: string
  visibility: 'public' | 'private'
  immutable_tags: string[]
  keep_rules: KeepRule[]
  bin_days: number
  quota_bytes: number | null
  used_bytes: Generated<number>
  created_by: string | null
  created_by_name: string
  created_at: Generated<Date>
  updated_at: Generated<Date>
}
interface RegistryRepositoryTable {
  id: string
  project_id: string
  /** As its project. */
  bp_id: string | null
  name: string
  description: Generated<string>
  used_bytes: Generated<number>
  tag_count: Generated<number>
  pull_count: Generated<number>
  pushed_at: Date | null
  pulled_at: Date | null
  created_at: Generated<Date>
}
/** What a digest leads to in a repository, whether a tag does or not. */
interface RegistryManifestTable {
  repository_id: string
  digest: string
  media_type: string
  kind: 'image' | 'chart' | 'artifact'
  artifact_type: string
  size_bytes: number
  /** Of each platform that it is for; of an image that is no index its own. */
  platforms: { os: string; architecture: string; variant: string | null; digest: string; size_bytes: number }[]
  chart: { version: string; app_version: string | null } | null
  /** Of an index. */
  children: string[]
  pushed_by: string | null
  created_at: Generated<Date>
  /** Its bytes, so that it can be put back where somebody deleted it by the registry's own way; null of what was seen before they were kept. */
  content: Buffer | null
}
interface RegistryBlobTable {
  repository_id: string
  manifest: string
  digest: string
  size_bytes: number
}
/** Tags that are there, and those in the bin. */
interface RegistryTagTable {
  id: string
  repository_id: string
  name: string
  digest: string
  size_bytes: number
  pushed_by: string | null
  pushed_at: Date
  pulled_at: Date | null
  deleted_at: Date | null
  deleted_by: string | null
  ends_at: Date | null
  /** Since when the registry has it no longer under its name. */
  untagged_at: Date | null
}
interface RegistrySizeTable {
  repository_id: string
  day: string
  used_bytes: number
  tag_count: number
}
/** A project that was deleted: its name is nobody else's until nothing of it is left and no token for it is good any more. */
interface LeftProjectTable {
  registry_id: string
  name: string
  bp_id: string | null
  deleted_at: Date
}
declare module '../../platform/db/database.ts' {
  interface Tables {
    registries: RegistryTable
    registry_users: RegistryUserTable
    registry_key: RegistryKeyTable
    registry_authority: RegistryAuthorityTable
    third_registries: ThirdRegistryTable
    preheats: PreheatTable
    preheat_targets: PreheatTargetTable
    registry_projects: RegistryProjectTable
    registry_repositories: RegistryRepositoryTable
    registry_manifests: RegistryManifestTable
    registry_blobs: RegistryBlobTable
    registry_tags: RegistryTagTable
    registry_sizes: RegistrySizeTable
    registry_left_projects: LeftProjectTable
  }
}

export const imsMigrations: Migrations = {
  '20261128_60_registries': migration(`
    create table registries (
      id uuid primary key,
      name text not null,
      description text not null,
      engine text not null check (engine in ('distribution', 'harbor')),
      origin text not null check (origin in ('kept', 'registered')),
      status text not null check (status in ('installing', 'active', 'deactive', 'changing', 'removing', 'error')),
      region_id uuid references regions on delete set null,
      node_id uuid references edges,
      url text not null,
      address text not null,
      certificate_authority text,
      username text,
      ours boolean not null,
      connection text not null,
      notify_hash bytea,
      health text not null check (health in ('unknown', 'reachable', 'degraded', 'unreachable', 'unauthorised')),
      health_message text,
      version text,
      checked_at timestamptz,
      reconciled_at timestamptz,
      reconcile_error text,
      collectable_bytes bigint not null default 0,
      collected_at timestamptz,
      error text,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index registries_name on registries (name);
    create unique index registries_address on registries (address);
    create table registry_users (
      user_id uuid primary key references users on delete cascade,
      hash text not null,
      set_at timestamptz not null,
      used_at timestamptz
    );
    create table registry_key (one boolean primary key check (one), sealed text not null, certificate text not null);
    create table registry_projects (
      id uuid primary key,
      registry_id uuid not null references registries,
      name text not null,
      bp_id uuid,
      description text not null,
      visibility text not null check (visibility in ('public', 'private')),
      immutable_tags text[] not null,
      keep_rules jsonb not null,
      bin_days integer not null,
      quota_bytes bigint,
      used_bytes bigint not null default 0,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index registry_projects_name on registry_projects (registry_id, name);
    create index registry_projects_bp on registry_projects (bp_id);
    create table registry_repositories (
      id uuid primary key,
      project_id uuid not null references registry_projects on delete cascade,
      bp_id uuid,
      name text not null,
      description text not null default '',
      used_bytes bigint not null default 0,
      tag_count integer not null default 0,
      pull_count integer not null default 0,
      pushed_at timestamptz,
      pulled_at timestamptz,
      created_at timestamptz not null default now()
    );
    create unique index registry_repositories_name on registry_repositories (project_id, name);
    create table registry_manifests (
      repository_id uuid not null references registry_repositories on delete cascade,
      digest text not null,
      media_type text not null,
      kind text not null check (kind in ('image', 'chart', 'artifact')),
      artifact_type text not null,
      size_bytes bigint not null,
      platforms jsonb not null,
      chart jsonb,
      children text[] not null,
      pushed_by text,
      created_at timestamptz not null default now(),
      primary key (repository_id, digest)
    );
    -- What a manifest refers to, itself among it: what several share is there once.
    create table registry_blobs (
      repository_id uuid not null,
      manifest text not null,
      digest text not null,
      size_bytes bigint not null,
      primary key (repository_id, manifest, digest),
      foreign key (repository_id, manifest) references registry_manifests on delete cascade
    );
    create index registry_blobs_digest on registry_blobs (repository_id, digest);
    create table registry_tags (
      id uuid primary key,
      repository_id uuid not null references registry_repositories on delete cascade,
      name text not null collate "C",
      digest text not null,
      size_bytes bigint not null,
      pushed_by text,
      pushed_at timestamptz not null,
      pulled_at timestamptz,
      deleted_at timestamptz,
      deleted_by text,
      ends_at timestamptz,
      untagged_at timestamptz
    );
    create unique index registry_tags_name on registry_tags (repository_id, name) where deleted_at is null;
    create index registry_tags_pushed on registry_tags (repository_id, pushed_at) where deleted_at is null;
    create index registry_tags_digest on registry_tags (repository_id, digest);
    create index registry_tags_ends on registry_tags (ends_at) where deleted_at is not null;
    create table registry_sizes (
      repository_id uuid not null references registry_repositories on delete cascade,
      day date not null,
      used_bytes bigint not null,
      tag_count integer not null,
      primary key (repository_id, day)
    );
    ${tellsChanges('registry_projects', 'ims.project')}
    ${tellsChanges('registry_repositories', 'ims.repository', 'ims.tag')}
  `),
  '20261128_61_kept_registries': migration(`
    alter table registries
      add column push_until timestamptz,
      add column collecting_until timestamptz,
      add column tls_kind text check (tls_kind in ('ours', 'given')),
      add column tls_ends_at timestamptz;
    create table registry_authority (one boolean primary key check (one), sealed text not null, certificate text not null);
    create index registries_node on registries (node_id) where node_id is not null;
  `),
  '20261128_62_preheats': migration(`
    create table third_registries (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      address text not null,
      url text not null,
      username text,
      connection text not null,
      health text not null check (health in ('unknown', 'reachable', 'unreachable', 'unauthorised', 'slow')),
      health_message text,
      slowed_until timestamptz,
      browsable boolean not null,
      checked_at timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index third_registries_name on third_registries (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create table preheats (
      id uuid primary key,
      bp_id uuid,
      registry_id uuid references registries on delete cascade,
      third_registry_id uuid references third_registries on delete cascade,
      images text[] not null,
      status text not null check (status in ('waiting', 'running', 'succeeded', 'partial', 'failed', 'cancelled')),
      at_once integer not null,
      starts_at timestamptz not null,
      started_at timestamptz,
      ended_at timestamptz,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      constraint preheats_from check ((registry_id is null) <> (third_registry_id is null))
    );
    create index preheats_newest on preheats (created_at, id);
    create index preheats_open on preheats (starts_at) where status in ('waiting', 'running');
    create table preheat_targets (
      id uuid primary key,
      preheat_id uuid not null references preheats on delete cascade,
      edge_id uuid not null references edges on delete cascade,
      image text not null,
      state text not null check (state in ('waiting', 'pulling', 'away', 'done', 'there', 'failed', 'cancelled')),
      layers jsonb not null,
      done_bytes bigint not null default 0,
      total_bytes bigint,
      error text,
      attempts integer not null default 0,
      next_at timestamptz,
      claimed_until timestamptz,
      ended_at timestamptz
    );
    create index preheat_targets_of on preheat_targets (preheat_id);
    create index preheat_targets_edge on preheat_targets (edge_id);
    ${tellsChanges('third_registries', 'ims.thirdRegistry')}
    ${tellsChanges('preheats', 'ims.preheat')}
  `),
  '20261128_63_registry_usage': migration(`
    -- What is in the bin takes room, too, until it goes for good.
    create function usage_of(project registry_projects) returns jsonb language sql stable as $$
      select case when project.used_bytes > 0 then jsonb_build_object('registry.size', project.used_bytes) else '{}' end
    $$;
    create trigger registry_projects_tell_usage after insert or delete or update of used_bytes, bp_id, name on registry_projects
      for each row execute function tell_usage('ims.project');
    select record_usage('ims.project', id, name, bp_id, null, usage_of(registry_projects)) from registry_projects where used_bytes > 0;
  `),
  '20261129_10_registry_contents': migration(`
    alter table registry_manifests add column content bytea;
    create table registry_left_projects (
      registry_id uuid not null references registries on delete cascade,
      name text not null,
      bp_id uuid,
      deleted_at timestamptz not null,
      primary key (registry_id, name)
    );
  `),
  '20261130_01_preheat_ordered_by': migration(`
    alter table preheats add column ordered_by uuid;
    update preheats set ordered_by = created_by;
  `),
}

-- The schema of 2026-11-22, as its migrations made it, one after the other.

-- migration 20261121_00_audit
create table audit_log (
      id uuid primary key,
      at timestamptz not null default now(),
      call text not null,
      actor_id uuid,
      actor_name text,
      bp_id uuid,
      object_id text,
      request_id text not null,
      ip text not null,
      code integer not null
    );
    create index audit_log_at on audit_log (at desc);
    create index audit_log_object on audit_log (object_id, at desc) where object_id is not null;

-- migration 20261121_01_operations
create table operations (
      id uuid primary key,
      kind text not null,
      resource_type text not null,
      resource_id uuid not null,
      bp_id uuid,
      actor_id uuid,
      actor_name text not null,
      status text not null check (status in ('queued', 'running', 'undoing', 'succeeded', 'failed')),
      steps_done integer not null default 0,
      steps_total integer not null,
      step text,
      input text not null,
      error text,
      error_text text,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz
    );
    create unique index operations_one_open on operations (resource_id) where status in ('queued', 'running', 'undoing');
    create index operations_resource on operations (resource_id, created_at desc);
    create index operations_open on operations (created_at) where status in ('queued', 'running', 'undoing');
    create index operations_bp on operations (bp_id, created_at desc);

-- migration 20261121_02_operations_cancelled
alter table operations drop constraint operations_status_check;
    alter table operations add constraint operations_status_check
      check (status in ('queued', 'running', 'undoing', 'succeeded', 'failed', 'cancelled'));

-- migration 20261121_03_operations_on_parts
alter table operations
      add of_id uuid,
      add of_part text,
      add constraint operations_on_parts check ((of_id is null) = (of_part is null));
    create index operations_of on operations (of_id, created_at desc) where of_id is not null;

-- migration 20261121_10_configs
create table configs (key text primary key, value text not null, updated_at timestamptz not null default now());

-- migration 20261121_11_licences
create table installation (id uuid primary key, installed_at timestamptz not null);
    create unique index installation_one on installation ((true));
    create table licences (id uuid primary key, file text not null, imported_at timestamptz not null default now());

-- migration 20261121_12_accounts
create table accounts (
      owner_id uuid primary key,
      balance numeric(24, 4) not null default 0,
      created_at timestamptz not null default now()
    );
    create table ledger_entries (
      id uuid primary key,
      movement_id uuid not null,
      owner_id uuid not null references accounts,
      amount numeric(24, 4) not null check (amount <> 0),
      at timestamptz not null default now()
    );
    create index ledger_entries_owner on ledger_entries (owner_id, at);
    create index ledger_entries_movement on ledger_entries (movement_id);

    create function ledger_entry_counts() returns trigger language plpgsql as $$
    begin
      update accounts set balance = balance + new.amount where owner_id = new.owner_id;
      return null;
    end $$;
    create trigger ledger_entry_counts after insert on ledger_entries
      for each row execute function ledger_entry_counts();

    -- Double entry: checked when the transaction ends, so that entries may be written one by one.
    create function ledger_movement_balances() returns trigger language plpgsql as $$
    begin
      if (select sum(amount) from ledger_entries where movement_id = new.movement_id) <> 0 then
        raise exception 'movement % does not balance', new.movement_id;
      end if;
      return null;
    end $$;
    create constraint trigger ledger_movement_balances after insert on ledger_entries
      deferrable initially deferred for each row execute function ledger_movement_balances();

    create function ledger_is_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'the ledger is append-only: correct a movement with another';
    end $$;
    create trigger ledger_is_append_only before update or delete or truncate on ledger_entries
      for each statement execute function ledger_is_append_only();

-- migration 20261121_13_identity
create table organisations (
      id uuid primary key,
      name text not null,
      kind text not null check (kind in ('company', 'personal')),
      status text not null default 'active' check (status in ('active', 'frozen')),
      created_at timestamptz not null default now()
    );
    -- A personal one is named after its user, whose name is free again when he is deleted.
    create unique index organisations_company_name on organisations (lower(name)) where kind = 'company';
    create table users (
      id uuid primary key,
      name text,
      former_name text,
      nickname text not null default '',
      description text not null default '',
      kind integer not null check (kind between 0 and 4),
      status text not null check (status in ('active', 'pending', 'disabled')),
      bp_id uuid references organisations,
      phone text,
      email text,
      password_hash text not null,
      must_change_password boolean not null default false,
      wrong_passwords integer not null default 0,
      frozen_until timestamptz,
      last_login_at timestamptz,
      created_at timestamptz not null default now(),
      deleted_at timestamptz
    );
    create unique index users_name on users (lower(name));
    create unique index users_phone on users (phone);
    create unique index users_email on users (lower(email));
    create index users_bp on users (bp_id);
    create table user_roles (
      user_id uuid not null references users on delete cascade,
      role text not null,
      primary key (user_id, role)
    );
    create table projects (
      id uuid primary key,
      key text not null,
      name text not null,
      bp_id uuid references organisations,
      created_at timestamptz not null default now(),
      unique (bp_id, name),
      unique (bp_id, key)
    );
    create table project_members (
      project_id uuid not null references projects on delete cascade,
      user_id uuid not null references users on delete cascade,
      primary key (project_id, user_id)
    );
    create index project_members_user on project_members (user_id);
    create table sessions (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      family_hash bytea not null unique,
      refresh_hash bytea not null,
      refresh_expires_at timestamptz not null,
      previous_refresh_hash bytea,
      rotated_at timestamptz not null,
      ends_at timestamptz not null,
      ip text not null,
      user_agent text not null,
      created_at timestamptz not null default now()
    );
    create index sessions_user on sessions (user_id);
    create index sessions_expiry on sessions (refresh_expires_at);
    create table access_tokens (
      hash bytea primary key,
      session_id uuid not null references sessions on delete cascade,
      expires_at timestamptz not null
    );
    create index access_tokens_session on access_tokens (session_id);
    create index access_tokens_expiry on access_tokens (expires_at);
    create table verification_codes (
      id uuid primary key,
      purpose text not null,
      address text not null,
      user_id uuid references users on delete cascade,
      code_hash bytea not null,
      origin inet not null,
      tries integer not null default 0,
      expires_at timestamptz not null,
      used_at timestamptz,
      created_at timestamptz not null
    );
    create index verification_codes_address on verification_codes (address, created_at desc);
    create index verification_codes_origin on verification_codes (origin, created_at desc);
    create table consultations (
      id uuid primary key,
      name text not null,
      phone text not null,
      content text not null,
      created_at timestamptz not null default now()
    );
    create table development_inbox (
      id uuid primary key,
      channel text not null,
      address text not null,
      purpose text not null,
      text text not null,
      created_at timestamptz not null default now()
    );
    create index development_inbox_created on development_inbox (created_at desc);

-- migration 20261121_20_clouds
create table clouds (
      id uuid primary key,
      name text not null,
      description text not null,
      product text not null check (product in ('nextstack', 'openstack', 'easystack')),
      connection_type text not null,
      address text not null,
      connection text not null,
      labels text[] not null default '{}',
      status text not null check (status in ('active', 'maintenance', 'offline')),
      health text not null check (health in ('unknown', 'reachable', 'unreachable', 'unauthorised')),
      health_message text,
      usage double precision,
      observed jsonb,
      checked_at timestamptz,
      created_at timestamptz not null default now(),
      deleted_at timestamptz
    );
    create unique index clouds_name on clouds (name) where deleted_at is null;
    create unique index clouds_address on clouds (address) where deleted_at is null and connection_type <> 'sandbox';

-- migration 20261121_30_change_function
create function tell_change() returns trigger language plpgsql as $$
    begin
      perform pg_notify('zhisuan', 'change ' || tg_argv[0] || ' ' || coalesce((case when tg_op = 'DELETE' then old.bp_id else new.bp_id end)::text, '-'));
      return null;
    end $$;

-- migration 20261121_30_flavors
create table flavors (
      id uuid primary key,
      name text not null unique,
      cpu_cores integer not null check (cpu_cores > 0),
      memory_bytes bigint not null check (memory_bytes > 0),
      disk_bytes bigint not null check (disk_bytes > 0)
    );
    insert into flavors (id, name, cpu_cores, memory_bytes, disk_bytes)
    select gen_random_uuid(), name, cores, mib * 1048576, gib * 1073741824
    from (values
      ('nano', 1, 256::bigint, 5::bigint),
      ('micro', 1, 512, 10),
      ('small', 1, 1024, 20),
      ('medium', 2, 2048, 40),
      ('large', 2, 4096, 60),
      ('xlarge', 4, 8192, 80),
      ('2xlarge', 8, 16384, 160)
    ) as first (name, cores, mib, gib);

-- migration 20261121_31_vms
create extension if not exists pg_trgm;
    create table vms (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      name text not null,
      description text not null,
      type text not null check (type in ('vm', 'container')),
      status text not null,
      error_text text,
      engine_name text not null,
      image_fingerprint text not null,
      image_name text not null,
      flavor_id uuid,
      flavor_name text not null,
      cpu_cores integer not null,
      memory_bytes bigint not null,
      disk_bytes bigint not null,
      network text not null,
      observed text,
      addresses jsonb not null default '[]',
      -- What the keyword filter looks through: name, addresses, id.
      search text generated always as (name || ' ' || coalesce(jsonb_path_query_array(addresses, '$[*].address')::text, '') || ' ' || id::text) stored,
      node text,
      revision integer not null default 0,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index vms_name on vms (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index vms_engine_name on vms (cloud_id, engine_name);
    create index vms_newest on vms (cloud_id, created_at desc, id desc);
    create index vms_newest_bp on vms (bp_id, cloud_id, created_at desc, id desc);
    create index vms_status on vms (cloud_id, status, created_at desc, id desc);
    create index vms_status_bp on vms (bp_id, cloud_id, status, created_at desc, id desc);
    create index vms_search on vms using gin (search gin_trgm_ops);

-- migration 20261121_32_vms_by_type
create index vms_type on vms (cloud_id, type, created_at desc, id desc);
    create index vms_type_bp on vms (bp_id, cloud_id, type, created_at desc, id desc);

-- migration 20261121_33_vms_in_projects
alter table vms add project_id uuid references projects;
    create index vms_project on vms (project_id) where project_id is not null;
    create trigger vms_tell_vm after insert or update or delete on vms for each row execute function tell_change('vm');

-- migration 20261121_34_vms_copied
alter table vms add source_snapshot_id uuid;
    create index vms_source on vms (source_snapshot_id) where source_snapshot_id is not null;

-- migration 20261121_40_quotas
create table quotas (
      bp_id uuid not null references organisations on delete cascade,
      project_id uuid references projects on delete cascade,
      resource text not null,
      most bigint check (most >= 0),
      unique nulls not distinct (bp_id, project_id, resource)
    );
    create table quota_defaults (
      resource text primary key,
      most bigint check (most >= 0)
    );

-- migration 20261121_50_flavors_chosen
alter table flavors
      add description text not null default '',
      add gpu_model text,
      add gpu_count integer check (gpu_count > 0),
      add public boolean not null default true,
      add created_at timestamptz not null default now(),
      add constraint flavors_gpu check ((gpu_model is null) = (gpu_count is null));
    create table flavor_organisations (
      flavor_id uuid not null references flavors on delete cascade,
      bp_id uuid not null references organisations on delete cascade,
      primary key (flavor_id, bp_id)
    );
    create index flavor_organisations_bp on flavor_organisations (bp_id, flavor_id);
    create index flavors_memory on flavors (memory_bytes, id);
    create index flavors_cores on flavors (cpu_cores, id);
    create index flavors_created on flavors (created_at, id);
    create index flavors_search on flavors using gin (name gin_trgm_ops);
    create index vms_flavor on vms (flavor_id, created_at desc, id desc);

-- migration 20261121_50_security_groups
create extension if not exists pg_trgm;
    create table security_groups (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      rules jsonb not null,
      revision integer not null default 1,
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index security_groups_name on security_groups (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create index security_groups_newest on security_groups (cloud_id, created_at desc, id desc);
    create index security_groups_newest_bp on security_groups (bp_id, cloud_id, created_at desc, id desc);
    create index security_groups_search on security_groups using gin (search gin_trgm_ops);
    create table vm_security_groups (
      vm_id uuid not null references vms on delete cascade,
      group_id uuid not null references security_groups,
      primary key (vm_id, group_id)
    );
    create index vm_security_groups_group on vm_security_groups (group_id);
    create trigger security_groups_tell_securityGroup after insert or update or delete on security_groups for each row execute function tell_change('securityGroup');

-- migration 20261121_51_key_pairs
create table key_pairs (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      algorithm text not null,
      public_key text not null,
      fingerprint text not null,
      fingerprint_md5 text not null,
      generated boolean not null,
      -- What the keyword filter looks through.
      search text generated always as (name || ' ' || fingerprint || ' ' || fingerprint_md5) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index key_pairs_name on key_pairs (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index key_pairs_key on key_pairs (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), fingerprint);
    create index key_pairs_newest on key_pairs (created_at, id);
    create index key_pairs_newest_bp on key_pairs (bp_id, created_at, id);
    create index key_pairs_by_name on key_pairs (name, id);
    create index key_pairs_by_name_bp on key_pairs (bp_id, name, id);
    create index key_pairs_by_algorithm on key_pairs (algorithm, id);
    create index key_pairs_by_algorithm_bp on key_pairs (bp_id, algorithm, id);
    create index key_pairs_search on key_pairs using gin (search gin_trgm_ops);
    create table vm_key_pairs (
      vm_id uuid not null references vms on delete cascade,
      key_pair_id uuid not null references key_pairs on delete cascade,
      primary key (vm_id, key_pair_id)
    );
    create index vm_key_pairs_key on vm_key_pairs (key_pair_id);

-- migration 20261121_51_vpcs
create extension if not exists btree_gist;
    create extension if not exists pg_trgm;
    create table vpcs (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      engine_name text not null,
      cidr cidr not null,
      dhcp boolean not null,
      dns_domain text,
      status text not null check (status in ('applying', 'active', 'deleting', 'error', 'lost')),
      error_text text,
      wanted integer not null,
      applying integer not null,
      applied integer not null default 0,
      -- What the keyword filter looks through: name, range, id.
      search text generated always as (name || ' ' || text(cidr) || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint vpcs_range exclude using gist (cloud_id with =, cidr inet_ops with &&)
    );
    create unique index vpcs_name on vpcs (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index vpcs_engine_name on vpcs (cloud_id, engine_name);
    create index vpcs_newest on vpcs (cloud_id, created_at desc, id desc);
    create index vpcs_newest_bp on vpcs (bp_id, cloud_id, created_at desc, id desc);
    create index vpcs_status on vpcs (cloud_id, status, created_at desc, id desc);
    create index vpcs_status_bp on vpcs (bp_id, cloud_id, status, created_at desc, id desc);
    create index vpcs_search on vpcs using gin (search gin_trgm_ops);
    create table vpc_security_groups (
      vpc_id uuid not null references vpcs on delete cascade,
      group_id uuid not null references security_groups,
      primary key (vpc_id, group_id)
    );
    create index vpc_security_groups_group on vpc_security_groups (group_id);
    -- What it comes to shows on its gateway, its groups and its instances.
    create trigger vpcs_tell_vpc after insert or update or delete on vpcs for each row execute function tell_change('vpc');
create trigger vpcs_tell_nat after insert or update or delete on vpcs for each row execute function tell_change('nat');
create trigger vpcs_tell_securityGroup after insert or update or delete on vpcs for each row execute function tell_change('securityGroup');
create trigger vpcs_tell_vm after insert or update or delete on vpcs for each row execute function tell_change('vm');

-- migration 20261121_52_commands
create table commands (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      name text not null,
      script text not null,
      timeout_seconds integer not null check (timeout_seconds > 0),
      status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled')),
      vm_count integer not null,
      succeeded_count integer not null default 0,
      failed_count integer not null default 0,
      cancelled boolean not null default false,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      finished_at timestamptz
    );
    create index commands_newest on commands (created_at, id);
    create index commands_newest_bp on commands (bp_id, created_at, id);
    create index commands_cloud on commands (cloud_id, created_at, id);
    create index commands_cloud_bp on commands (bp_id, cloud_id, created_at, id);
    create index commands_status on commands (status, created_at, id);
    create index commands_status_bp on commands (bp_id, status, created_at, id);
    create index commands_by_status on commands (status, id);
    create index commands_by_name on commands (name, id);
    create index commands_by_name_bp on commands (bp_id, name, id);
    create index commands_search on commands using gin (name gin_trgm_ops);
    create trigger commands_tell_command after insert or update or delete on commands for each row execute function tell_change('command');
    create table command_results (
      command_id uuid not null references commands on delete cascade,
      vm_id uuid not null,
      vm_name text not null,
      position integer not null,
      cloud_id uuid not null,
      bp_id uuid,
      status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled')),
      runner uuid check ((status = 'running') = (runner is not null)),
      exit_code integer,
      stdout text not null default '',
      stderr text not null default '',
      truncated boolean not null default false,
      error_text text,
      started_at timestamptz,
      finished_at timestamptz,
      primary key (command_id, vm_id)
    );
    create index command_results_open on command_results (cloud_id, status) where status in ('queued', 'running');

-- migration 20261121_52_vpc_addresses
create table vpc_addresses (
      vpc_id uuid not null references vpcs on delete cascade,
      number bigint not null,
      vm_id uuid unique references vms,
      left_at integer,
      primary key (vpc_id, number)
    );

-- migration 20261121_53_eip_pools
create extension if not exists btree_gist;
    create table eip_pools (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      name text not null,
      description text not null,
      public boolean not null,
      excluded jsonb not null,
      max_bandwidth_mbps integer,
      address_count bigint not null,
      created_at timestamptz not null default now()
    );
    create unique index eip_pools_name on eip_pools (cloud_id, name);
    create table eip_pool_ranges (
      pool_id uuid not null references eip_pools on delete cascade,
      cloud_id uuid not null references clouds,
      first bigint not null,
      last bigint not null,
      constraint eip_pool_ranges_apart exclude using gist (cloud_id with =, int8range(first, last, '[]') with &&)
    );
    create index eip_pool_ranges_pool on eip_pool_ranges (pool_id, first);
    create table eip_pool_organisations (
      pool_id uuid not null references eip_pools on delete cascade,
      bp_id uuid not null references organisations on delete cascade,
      primary key (pool_id, bp_id)
    );

-- migration 20261121_54_eips
create table eips (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      number bigint not null,
      pool_id uuid not null references eip_pools,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      bandwidth_mbps integer,
      status text not null check (status in ('available', 'binding', 'bound', 'unbinding', 'error')),
      error_text text,
      vm_id uuid unique references vms,
      nat_id uuid,
      vpc_id uuid references vpcs,
      unbinding boolean not null default false,
      changed_at_wanted integer not null default 0,
      limit_vm_id uuid,
      limit_mbps integer,
      -- What the keyword filter looks through: name, address, id.
      search text generated always as (name || ' ' || host('0.0.0.0'::inet + number) || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check (vm_id is null or nat_id is null)
    );
    create unique index eips_number on eips (cloud_id, number);
    create index eips_pool on eips (pool_id, number);
    create index eips_vpc on eips (vpc_id) where vpc_id is not null;
    create index eips_nat on eips (nat_id) where nat_id is not null;
    create index eips_limit_vm on eips (limit_vm_id) where limit_vm_id is not null;
    create index eips_newest on eips (cloud_id, created_at desc, id desc);
    create index eips_newest_bp on eips (bp_id, cloud_id, created_at desc, id desc);
    create index eips_status on eips (cloud_id, status, created_at desc, id desc);
    create index eips_status_bp on eips (bp_id, cloud_id, status, created_at desc, id desc);
    create index eips_search on eips using gin (search gin_trgm_ops);
    -- Instances show what leads to them.
    create trigger eips_tell_eip after insert or update or delete on eips for each row execute function tell_change('eip');
create trigger eips_tell_vm after insert or update or delete on eips for each row execute function tell_change('vm');

-- migration 20261121_55_nat_gateways
create table nat_gateways (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      vpc_id uuid not null unique references vpcs on delete cascade,
      bp_id uuid,
      name text not null,
      description text not null,
      snat boolean not null,
      snat_eip_id uuid references eips,
      deleting_at integer,
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index nat_gateways_newest on nat_gateways (cloud_id, created_at desc, id desc);
    create index nat_gateways_newest_bp on nat_gateways (bp_id, cloud_id, created_at desc, id desc);
    create index nat_gateways_search on nat_gateways using gin (search gin_trgm_ops);
    create index nat_gateways_snat_eip on nat_gateways (snat_eip_id) where snat_eip_id is not null;
    alter table eips add foreign key (nat_id) references nat_gateways;
    create table nat_rules (
      id uuid primary key,
      nat_id uuid not null references nat_gateways on delete cascade,
      eip_id uuid not null references eips,
      protocol text not null check (protocol in ('tcp', 'udp')),
      outside_first integer not null,
      outside_last integer not null,
      inside bigint not null,
      inside_first integer not null,
      inside_last integer not null,
      vm_id uuid references vms,
      description text not null,
      created_at timestamptz not null default now(),
      constraint nat_rules_ports exclude using gist (eip_id with =, protocol with =, int4range(outside_first, outside_last, '[]') with &&)
    );
    create index nat_rules_nat on nat_rules (nat_id, created_at, id);
    create index nat_rules_vm on nat_rules (vm_id) where vm_id is not null;
    create trigger nat_gateways_tell_nat after insert or update or delete on nat_gateways for each row execute function tell_change('nat');

-- migration 20261121_56_vpcs_by_name
create index vpcs_by_name on vpcs (cloud_id, name, id);
    create index vpcs_by_name_bp on vpcs (bp_id, cloud_id, name, id);
    create index vpcs_by_status on vpcs (cloud_id, status, id);
    create index vpcs_by_status_bp on vpcs (bp_id, cloud_id, status, id);

-- migration 20261121_57_security_groups_by_name
create index security_groups_by_name on security_groups (cloud_id, name, id);
    create index security_groups_by_name_bp on security_groups (bp_id, cloud_id, name, id);

-- migration 20261121_58_nat_gateways_by_name
create index nat_gateways_by_name on nat_gateways (cloud_id, name, id);
    create index nat_gateways_by_name_bp on nat_gateways (bp_id, cloud_id, name, id);

-- migration 20261121_59_eips_by_name
create index eips_by_name on eips (cloud_id, name, id);
    create index eips_by_name_bp on eips (bp_id, cloud_id, name, id);
    create index eips_by_status on eips (cloud_id, status, id);
    create index eips_by_status_bp on eips (bp_id, cloud_id, status, id);
    create index eips_by_address on eips (cloud_id, number, id);
    create index eips_by_address_bp on eips (bp_id, cloud_id, number, id);

-- migration 20261121_60_volumes
create table volumes (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      pool text not null,
      content text not null check (content in ('filesystem', 'block')),
      engine_name text not null,
      size_bytes bigint not null,
      growing_to bigint,
      used_bytes bigint,
      status text not null,
      error_text text,
      vm_id uuid references vms,
      path text,
      source_snapshot_id uuid,
      source_backup_id uuid,
      observed text check (observed in ('available', 'in_use', 'lost')),
      revision integer not null default 0,
      -- What the keyword filter looks through: name, id.
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      -- At the end of a statement, which may record of several what others changed on the engine.
      constraint volumes_path unique (vm_id, path) deferrable initially immediate
    );
    create unique index volumes_name on volumes (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index volumes_engine_name on volumes (cloud_id, engine_name);
    create index volumes_project on volumes (project_id) where project_id is not null;
    create index volumes_being_made on volumes (id) where status = 'creating';
    create index volumes_pool on volumes (cloud_id, pool) include (size_bytes, growing_to);
    create index volumes_of_organisation on volumes (bp_id) include (size_bytes, growing_to);
    create index volumes_newest_all on volumes (created_at, id);
    create index volumes_newest on volumes (cloud_id, created_at, id);
    create index volumes_newest_bp on volumes (bp_id, cloud_id, created_at, id);
    create index volumes_by_name on volumes (cloud_id, name, id);
    create index volumes_by_name_bp on volumes (bp_id, cloud_id, name, id);
    create index volumes_by_status on volumes (cloud_id, status, id);
    create index volumes_by_status_bp on volumes (bp_id, cloud_id, status, id);
    create index volumes_by_size on volumes (cloud_id, size_bytes, id);
    create index volumes_by_size_bp on volumes (bp_id, cloud_id, size_bytes, id);
    create index volumes_search on volumes using gin (search gin_trgm_ops);
    create trigger volumes_tell_volume after insert or update or delete on volumes for each row execute function tell_change('volume');

-- migration 20261121_61_vm_snapshots
create table vm_snapshots (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      vm_id uuid not null references vms on delete cascade,
      name text not null,
      description text not null,
      status text not null check (status in ('creating', 'available', 'restoring', 'deleting', 'error', 'lost')),
      error_text text,
      engine_name text not null,
      size_bytes bigint,
      schedule_id uuid,
      foreign_made boolean not null default false,
      revision integer not null default 0,
      -- What the keyword filter looks through: name, id.
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index vm_snapshots_name on vm_snapshots (vm_id, name);
    create unique index vm_snapshots_engine_name on vm_snapshots (vm_id, engine_name);
    create index vm_snapshots_of_vm on vm_snapshots (vm_id, created_at, id);
    create index vm_snapshots_schedule on vm_snapshots (schedule_id, created_at, id) where schedule_id is not null;
    create index vm_snapshots_newest on vm_snapshots (created_at, id);
    create index vm_snapshots_newest_bp on vm_snapshots (bp_id, created_at, id);
    create index vm_snapshots_cloud on vm_snapshots (cloud_id, created_at, id);
    create index vm_snapshots_cloud_bp on vm_snapshots (bp_id, cloud_id, created_at, id);
    create index vm_snapshots_cloud_name on vm_snapshots (cloud_id, name, id);
    create index vm_snapshots_cloud_name_bp on vm_snapshots (bp_id, cloud_id, name, id);
    create index vm_snapshots_cloud_size on vm_snapshots (cloud_id, size_bytes, id);
    create index vm_snapshots_cloud_size_bp on vm_snapshots (bp_id, cloud_id, size_bytes, id);
    create index vm_snapshots_cloud_status on vm_snapshots (cloud_id, status, id);
    create index vm_snapshots_cloud_status_bp on vm_snapshots (bp_id, cloud_id, status, id);
    create index vm_snapshots_status on vm_snapshots (cloud_id, status, created_at, id);
    create index vm_snapshots_search on vm_snapshots using gin (search gin_trgm_ops);
    create trigger vm_snapshots_tell_snapshot after insert or update or delete on vm_snapshots for each row execute function tell_change('snapshot');

-- migration 20261121_61_volume_snapshots
create table volume_snapshots (
      id uuid primary key,
      volume_id uuid not null references volumes,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      engine_name text not null,
      size_bytes bigint not null,
      status text not null,
      error_text text,
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index volume_snapshots_name on volume_snapshots (volume_id, name);
    create index volume_snapshots_project on volume_snapshots (project_id) where project_id is not null;
    create index volume_snapshots_newest_all on volume_snapshots (created_at, id);
    create index volume_snapshots_newest on volume_snapshots (cloud_id, created_at, id);
    create index volume_snapshots_newest_bp on volume_snapshots (bp_id, cloud_id, created_at, id);
    create index volume_snapshots_by_name on volume_snapshots (cloud_id, name, id);
    create index volume_snapshots_by_name_bp on volume_snapshots (bp_id, cloud_id, name, id);
    create index volume_snapshots_by_status on volume_snapshots (cloud_id, status, id);
    create index volume_snapshots_by_status_bp on volume_snapshots (bp_id, cloud_id, status, id);
    create index volume_snapshots_search on volume_snapshots using gin (search gin_trgm_ops);
    -- Volumes show how many they have.
    create trigger volume_snapshots_tell_volumeSnapshot after insert or update or delete on volume_snapshots for each row execute function tell_change('volumeSnapshot');
create trigger volume_snapshots_tell_volume after insert or update or delete on volume_snapshots for each row execute function tell_change('volume');

-- migration 20261121_62_vm_snapshot_schedules
create table vm_snapshot_schedules (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      vm_id uuid not null references vms on delete cascade,
      name text not null,
      description text not null,
      rhythm text not null check (rhythm in ('hourly', 'daily', 'weekly')),
      at text not null,
      weekday integer check (weekday between 1 and 7),
      time_zone text not null,
      keep integer not null check (keep > 0),
      enabled boolean not null,
      last_run_at timestamptz,
      last_error text,
      next_run_at timestamptz check ((next_run_at is not null) = enabled),
      -- What the keyword filter looks through: name, id.
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index vm_snapshot_schedules_due on vm_snapshot_schedules (next_run_at) where enabled;
    create index vm_snapshot_schedules_vm on vm_snapshot_schedules (vm_id, created_at, id);
    create index vm_snapshot_schedules_cloud on vm_snapshot_schedules (cloud_id, created_at, id);
    create index vm_snapshot_schedules_cloud_bp on vm_snapshot_schedules (bp_id, cloud_id, created_at, id);
    create index vm_snapshot_schedules_name on vm_snapshot_schedules (cloud_id, name, id);
    create index vm_snapshot_schedules_name_bp on vm_snapshot_schedules (bp_id, cloud_id, name, id);
    create index vm_snapshot_schedules_next on vm_snapshot_schedules (cloud_id, next_run_at, id);
    create index vm_snapshot_schedules_next_bp on vm_snapshot_schedules (bp_id, cloud_id, next_run_at, id);
    create index vm_snapshot_schedules_search on vm_snapshot_schedules using gin (search gin_trgm_ops);
    create trigger vm_snapshot_schedules_tell_snapshot after insert or update or delete on vm_snapshot_schedules for each row execute function tell_change('snapshot');

-- migration 20261121_62_volume_backups
create table volume_backups (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      volume_id uuid references volumes on delete set null,
      bp_id uuid,
      project_id uuid references projects,
      name text not null,
      description text not null,
      content text not null check (content in ('filesystem', 'block')),
      size_bytes bigint not null,
      file_bytes bigint,
      sha256 text,
      status text not null,
      error_text text,
      search text generated always as (name || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index volume_backups_volume on volume_backups (volume_id);
    create index volume_backups_project on volume_backups (project_id) where project_id is not null;
    create index volume_backups_of_organisation on volume_backups (bp_id) include (file_bytes, size_bytes);
    create index volume_backups_newest_all on volume_backups (created_at, id);
    create index volume_backups_newest on volume_backups (cloud_id, created_at, id);
    create index volume_backups_newest_bp on volume_backups (bp_id, cloud_id, created_at, id);
    create index volume_backups_by_name on volume_backups (cloud_id, name, id);
    create index volume_backups_by_name_bp on volume_backups (bp_id, cloud_id, name, id);
    create index volume_backups_by_status on volume_backups (cloud_id, status, id);
    create index volume_backups_by_status_bp on volume_backups (bp_id, cloud_id, status, id);
    create index volume_backups_by_file on volume_backups (cloud_id, file_bytes, id);
    create index volume_backups_by_file_bp on volume_backups (bp_id, cloud_id, file_bytes, id);
    create index volume_backups_search on volume_backups using gin (search gin_trgm_ops);
    create trigger volume_backups_tell_volumeBackup after insert or update or delete on volume_backups for each row execute function tell_change('volumeBackup');

-- migration 20261121_63_storage_pools
create table storage_pools (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      name text not null,
      description text not null,
      driver text not null,
      shared boolean not null,
      status text not null,
      total_bytes bigint not null,
      used_bytes bigint not null,
      enforces_size boolean not null,
      restores_in_use boolean not null,
      members jsonb not null,
      seen_at timestamptz not null,
      unique (cloud_id, name)
    );
    create trigger storage_pools_tell_storagePool after insert or update or delete on storage_pools for each row execute function tell_change('storagePool');

-- migration 20261121_64_volumes_on_members
alter table volumes add node text
;
-- migration 20261121_80_hosts
create table hosts (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      name text not null,
      status text not null check (status in ('online', 'offline', 'evacuated', 'evacuating', 'restoring', 'gone')),
      observed text not null check (observed in ('online', 'offline', 'evacuated', 'gone')),
      status_message text not null,
      schedulable boolean not null default true,
      clustered boolean not null,
      address text,
      architecture text not null,
      hardware jsonb not null,
      memory_total_bytes bigint not null,
      memory_used_bytes bigint not null,
      error_text text,
      revision integer not null default 0,
      seen_at timestamptz not null default now(),
      unique (cloud_id, name)
    );
    create index hosts_name on hosts (name, id);
    create index vms_node on vms (cloud_id, node, status) include (cpu_cores, memory_bytes);
    create trigger hosts_tell_host after insert or update or delete on hosts for each row execute function tell_change('host');

-- migration 20261121_81_host_gpus
create table host_gpus (
      host_id uuid not null references hosts on delete cascade,
      bp_id uuid,
      pci_address text not null,
      vendor text not null,
      model text not null,
      driver text not null,
      -- Whoever deletes an instance gives back its cards, and cannot forget to.
      vm_id uuid references vms on delete set null,
      taken_by text,
      present boolean not null default true,
      primary key (host_id, pci_address)
    );
    create index host_gpus_vm on host_gpus (vm_id) where vm_id is not null;
    create index host_gpus_free on host_gpus (model, host_id, pci_address) where vm_id is null and taken_by is null and present;
    create trigger host_gpus_tell_host after insert or update or delete on host_gpus for each row execute function tell_change('host');

-- migration 20261121_85_images
create table images (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      bp_id uuid,
      name text not null,
      description text not null,
      status text not null check (status in ('uploading', 'fetching', 'publishing', 'importing', 'active', 'deleting', 'error', 'lost')),
      error_text text,
      visibility text not null check (visibility in ('public', 'private')),
      source text not null check (source in ('upload', 'url', 'vm', 'engine')),
      fingerprint text,
      sha256 text,
      suffix text,
      type text not null check (type in ('vm', 'container')),
      os text,
      release text,
      architecture text,
      cloud_init boolean not null,
      size_bytes bigint,
      received_bytes bigint not null default 0,
      min_cpu_cores integer not null,
      min_memory_bytes bigint not null,
      min_disk_bytes bigint not null,
      -- What the keyword filter looks through: name, system, id.
      search text generated always as (name || ' ' || coalesce(os, '') || ' ' || coalesce(release, '') || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index images_name on images (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name) where source <> 'engine';
    create unique index images_content on images (cloud_id, coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), fingerprint) where fingerprint is not null;
    create index images_fingerprint on images (cloud_id, fingerprint) where fingerprint is not null;
    create index images_newest on images (cloud_id, created_at desc, id desc);
    create index images_newest_bp on images (bp_id, cloud_id, created_at desc, id desc);
    create index images_everywhere_bp on images (bp_id, created_at desc, id desc);
    create index images_everywhere on images (created_at desc, id desc);
    create index images_visibility on images (cloud_id, visibility, created_at desc, id desc);
    create index images_visibility_bp on images (bp_id, cloud_id, visibility, created_at desc, id desc);
    create index images_names on images (cloud_id, name, id);
    create index images_names_bp on images (bp_id, cloud_id, name, id);
    create index images_sizes on images (cloud_id, size_bytes, id);
    create index images_sizes_bp on images (bp_id, cloud_id, size_bytes, id);
    create index images_status on images (cloud_id, status, created_at desc, id desc);
    create index images_public on images (cloud_id) where visibility = 'public' and status = 'active';
    create index images_uploading on images (updated_at) where status = 'uploading';
    create index images_search on images using gin (search gin_trgm_ops);
    create table image_shares (
      image_id uuid not null references images on delete cascade,
      bp_id uuid not null references organisations on delete cascade,
      primary key (image_id, bp_id)
    );
    create index image_shares_bp on image_shares (bp_id, image_id);
    create index vms_image on vms (cloud_id, image_fingerprint, bp_id);
    create trigger images_tell_image after insert or update or delete on images for each row execute function tell_change('image');
    create trigger image_shares_tell_image after insert or update or delete on image_shares for each row execute function tell_change('image');

-- migration 20261121_98_flavors_in_parts
create index flavors_names_in_parts on flavors (public, name, id);
    create index flavors_cores_in_parts on flavors (public, cpu_cores, id);
    create index flavors_memory_in_parts on flavors (public, memory_bytes, id);
    create index flavors_created_in_parts on flavors (public, created_at, id);
    create index flavors_gpus on flavors (public, memory_bytes, id) where gpu_model is not null;

-- migration 20261121_98_images_in_parts
drop index images_public;
    create index images_public_newest on images (cloud_id, created_at desc, id desc, bp_id) where visibility = 'public' and status = 'active';
    create index images_public_names on images (cloud_id, name, id, bp_id) where visibility = 'public' and status = 'active';
    create index images_public_sizes on images (cloud_id, size_bytes, id, bp_id) where visibility = 'public' and status = 'active';
    create index images_public_everywhere on images (created_at desc, id desc, bp_id) where visibility = 'public' and status = 'active';
    create index images_by_status_bp on images (bp_id, cloud_id, status, id);

-- migration 20261121_98_overview
create table overview_samples (
      bp_id uuid not null,
      at timestamptz not null,
      vms integer not null,
      running integer not null,
      cpu_cores bigint not null,
      memory_bytes bigint not null,
      primary key (bp_id, at)
    );
    create index overview_samples_at on overview_samples (at);
    create index vms_totals on vms (bp_id, status) include (cpu_cores, memory_bytes);
    create index operations_newest on operations (created_at desc, id desc);
    create index operations_failed on operations (created_at desc, id desc) where status = 'failed';

    -- What a resource was called outlives it: the history of what was done names what was deleted.
    alter table operations add resource_name text not null default '';
    create function name_of_operation() returns trigger language plpgsql as $$
    declare named text := case new.resource_type
      when 'vm' then 'vms'
      when 'snapshot' then 'vm_snapshots'
      when 'volume' then 'volumes'
      when 'volumeSnapshot' then 'volume_snapshots'
      when 'volumeBackup' then 'volume_backups'
      when 'image' then 'images'
      when 'vpc' then 'vpcs'
      when 'host' then 'hosts'
    end;
    begin
      if to_regclass(named) is not null then
        execute format('select name from %I where id = $1', named) into new.resource_name using new.resource_id;
        new.resource_name := coalesce(new.resource_name, '');
      end if;
      return new;
    end $$;
    create trigger operations_name before insert on operations for each row execute function name_of_operation();

-- migration 20261122_01_regions
create table regions (
      id uuid primary key,
      name text not null,
      description text not null,
      nation text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index regions_name on regions (name);
    create table sites (
      id uuid primary key,
      name text not null,
      description text not null,
      region_id uuid not null constraint sites_region references regions,
      divisions text[] not null,
      address text not null,
      longitude double precision,
      latitude double precision,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index sites_name on sites (name);
    create index sites_of_region on sites (region_id);

-- migration 20261122_02_edges
create table edges (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      site_id uuid constraint edges_site references sites,
      binding text not null check (binding in ('pending', 'unconfirmed', 'bound', 'unbound')),
      activation text not null default 'active' check (activation in ('active', 'deactive')),
      confirm text not null check (confirm in ('auto', 'manual')),
      labels jsonb not null,
      taints jsonb not null,
      token_hash text,
      token_expires_at timestamptz,
      public_key text,
      server_id uuid,
      status text not null generated always as (case when binding <> 'bound' then binding when server_id is null then 'offline' else 'online' end) stored,
      facts jsonb,
      agent_version text,
      seen_at timestamptz,
      -- What the keyword filter looks through.
      search text generated always as (name || ' ' || description || ' ' || coalesce(facts ->> 'host_name', '')) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index edges_name on edges (coalesce(bp_id, '00000000-0000-0000-0000-000000000000'), name);
    create unique index edges_token on edges (token_hash);
    create index edges_server on edges (server_id) where server_id is not null;
    create index edges_site on edges (site_id);
    create index edges_newest on edges (created_at, id);
    create index edges_newest_bp on edges (bp_id, created_at, id);
    create index edges_by_name on edges (name, id);
    create index edges_by_name_bp on edges (bp_id, name, id);
    create index edges_by_status on edges (status, id);
    create index edges_by_seen on edges (seen_at, id);
    create index edges_labels on edges using gin (labels jsonb_path_ops);
    create index edges_search on edges using gin (search gin_trgm_ops);
    create trigger edges_tell_edge after insert or update or delete on edges for each row execute function tell_change('edge');
    create table edge_servers (id uuid primary key, seen_at timestamptz not null default now());

-- migration 20261122_03_edge_identity
create table edge_identity (one boolean primary key check (one), sealed text not null)
;
-- migration 20261122_04_edge_image_pulls
create table edge_image_pulls (
      id uuid primary key,
      edge_id uuid not null references edges on delete cascade,
      image text not null,
      status text not null check (status in ('running', 'succeeded', 'failed')),
      error text,
      layers jsonb not null,
      created_at timestamptz not null default now()
    );
    create index edge_image_pulls_edge on edge_image_pulls (edge_id, created_at);

-- migration 20261122_05_edge_upgrades
create table edge_upgrades (
      edge_id uuid primary key references edges on delete cascade,
      status integer not null check (status in (1, 2, 3, 4, 5, 20, 40)),
      from_version text not null,
      to_version text not null,
      confirm text not null check (confirm in ('auto', 'manual')),
      ordered_at timestamptz,
      error text,
      changed_at timestamptz not null default now()
    );

-- migration 20261122_06_edge_service_agents
create table edge_service_agents (
      id uuid primary key,
      edge_id uuid not null references edges on delete cascade,
      name text not null,
      description text not null,
      target_port integer not null,
      listen_port integer not null,
      created_at timestamptz not null default now()
    );
    create unique index edge_service_agents_name on edge_service_agents (name);
    create unique index edge_service_agents_port on edge_service_agents (listen_port);
    create index edge_service_agents_edge on edge_service_agents (edge_id);

-- migration 20261122_07_edge_gateways
create table edge_gateways (
      id uuid primary key,
      edge_id uuid not null references edges on delete cascade,
      site_id uuid not null references sites,
      name text not null,
      description text not null,
      address text not null,
      port integer not null,
      wanted text not null check (wanted in ('active', 'deactive')),
      rebooting boolean not null default false,
      error text,
      created_at timestamptz not null default now()
    );
    create unique index edge_gateways_name on edge_gateways (name);
    create unique index edge_gateways_edge on edge_gateways (edge_id);
    create index edge_gateways_site on edge_gateways (site_id);

-- migration 20261122_20_container_deployments
create table container_deployments (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      spec text not null,
      image text not null,
      placement jsonb not null,
      search text generated always as (name || ' ' || image || ' ' || description) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index container_deployments_name on container_deployments (bp_id, name) nulls not distinct;
    create index container_deployments_newest on container_deployments (created_at, id);
    create index container_deployments_newest_bp on container_deployments (bp_id, created_at, id);
    create index container_deployments_search on container_deployments using gin (search gin_trgm_ops);

-- migration 20261122_21_edges_docker
alter table edges add column docker_away boolean not null default false;

-- migration 20261122_22_containers
create table containers (
      id uuid primary key,
      edge_id uuid not null constraint containers_edge references edges,
      deployment_id uuid not null references container_deployments,
      bp_id uuid,
      name text not null,
      spec text not null,
      image text not null,
      ports jsonb not null,
      generation integer not null default 1,
      status text not null,
      docker_id text,
      health text,
      exit_code integer,
      restart_count integer not null default 0,
      started_at timestamptz,
      error_text text,
      revision integer not null default 0,
      search text generated always as (name || ' ' || image || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index containers_name on containers (edge_id, name);
    create index containers_deployment on containers (deployment_id);
    create index containers_newest on containers (created_at, id);
    create index containers_newest_bp on containers (bp_id, created_at, id);
    create index containers_by_name_bp on containers (bp_id, name, id);
    create index containers_search on containers using gin (search gin_trgm_ops);

-- migration 20261122_23_container_configs
create table container_configs (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      content text not null,
      revision integer not null default 1,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index container_configs_name on container_configs (bp_id, name) nulls not distinct;
    create table container_config_uses (
      container_id uuid not null references containers on delete cascade,
      path text not null,
      config_id uuid not null references container_configs,
      revision integer not null,
      restart boolean not null default false,
      primary key (container_id, path)
    );
    create index container_config_uses_config on container_config_uses (config_id);

-- migration 20261122_30_containers_of_services
alter table containers alter column deployment_id drop not null;
    alter table containers alter column spec drop not null;
    alter table containers add column service_id uuid;
    alter table containers add column service_name text;
    alter table containers add constraint containers_of_one check ((deployment_id is null) <> (service_id is null));
    drop index containers_name;
    create unique index containers_name on containers (edge_id, name) where service_id is null;
    create unique index containers_of_service on containers (service_id, docker_id) where service_id is not null;

-- migration 20261122_31_stack_templates
create table stack_templates (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      version text not null,
      description text not null,
      labels jsonb not null,
      compose text not null,
      variables jsonb not null,
      search text generated always as (name || ' ' || description) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index stack_templates_version on stack_templates (bp_id, name, version) nulls not distinct;
    create index stack_templates_newest on stack_templates (bp_id, name, created_at desc, id desc);
    create index stack_templates_search on stack_templates using gin (search gin_trgm_ops);

-- migration 20261122_32_stack_deployments
create table stack_deployments (
      id uuid primary key,
      bp_id uuid,
      name text not null,
      description text not null,
      template jsonb,
      search text generated always as (name || ' ' || description) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create unique index stack_deployments_name on stack_deployments (bp_id, name) nulls not distinct;
    create index stack_deployments_newest on stack_deployments (created_at, id);
    create index stack_deployments_newest_bp on stack_deployments (bp_id, created_at, id);
    create index stack_deployments_search on stack_deployments using gin (search gin_trgm_ops);

-- migration 20261122_33_stacks
create table stacks (
      id uuid primary key,
      deployment_id uuid not null references stack_deployments,
      edge_id uuid not null constraint stacks_edge references edges,
      bp_id uuid,
      name text not null,
      project text not null unique,
      status text not null,
      revision integer not null,
      deployed_revision integer,
      looks integer not null default 0,
      error_text text,
      output text not null default '',
      search text generated always as (name || ' ' || project || ' ' || id::text) stored,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index stacks_deployment on stacks (deployment_id);
    create index stacks_on_edge on stacks (edge_id);
    create index stacks_newest on stacks (created_at, id);
    create index stacks_newest_bp on stacks (bp_id, created_at, id);
    create index stacks_search on stacks using gin (search gin_trgm_ops);

-- migration 20261122_34_stack_revisions
create table stack_revisions (
      stack_id uuid not null references stacks on delete cascade,
      revision integer not null,
      content text not null,
      template jsonb,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      primary key (stack_id, revision)
    );

-- migration 20261122_35_stack_services
create table stack_services (
      id uuid primary key,
      stack_id uuid not null references stacks on delete cascade,
      name text not null,
      image text not null,
      replicas integer not null,
      ports jsonb not null,
      created_at timestamptz not null default now(),
      unique (stack_id, name)
    );

-- migration 20261122_36_stack_configs
create table stack_configs (
      stack_id uuid not null references stacks on delete cascade,
      path text not null,
      config_id uuid not null references container_configs,
      revision integer not null,
      primary key (stack_id, path)
    );
    create index stack_configs_config on stack_configs (config_id);

-- migration 20261122_40_operations_detail
alter table operations add column error_detail text;

-- migration 20261122_41_containers_tell
create trigger containers_tell_container after insert or update or delete on containers for each row execute function tell_change('container');
    create trigger containers_tell_stack after insert or update or delete on containers for each row execute function tell_change('stack');
    create trigger container_deployments_tell_container after insert or update or delete on container_deployments for each row execute function tell_change('container');

-- migration 20261122_42_container_configs_tell
create trigger container_configs_tell_config after insert or update or delete on container_configs for each row execute function tell_change('containerConfig');

-- migration 20261122_43_stacks_tell
create trigger stacks_tell_stack after insert or update or delete on stacks for each row execute function tell_change('stack');
    create trigger stack_deployments_tell_stack after insert or update or delete on stack_deployments for each row execute function tell_change('stack');

-- migration 20261122_44_stack_templates_tell
create trigger stack_templates_tell_template after insert or update or delete on stack_templates for each row execute function tell_change('template');

-- migration 20261122_46_container_links
create table container_links (
      token_hash text primary key,
      how text not null,
      container_id uuid not null,
      path text not null,
      user_id uuid not null,
      session_id uuid not null,
      expires_at timestamptz not null
    );
    create index container_links_expiry on container_links (expires_at);

-- migration 20261122_47_containers_memory
alter table containers add column out_of_memory boolean not null default false;

-- migration 20261122_48_containers_tell_changes
drop trigger containers_tell_container on containers;
    drop trigger containers_tell_stack on containers;
    create trigger containers_tell_container after insert or delete on containers for each row execute function tell_change('container');
    create trigger containers_tell_stack after insert or delete on containers for each row execute function tell_change('stack');
    create trigger containers_tell_container_changed after update on containers for each row when (old is distinct from new) execute function tell_change('container');
    create trigger containers_tell_stack_changed after update on containers for each row when (old is distinct from new) execute function tell_change('stack');

-- migration 20261122_49_stacks_tell_changes
drop trigger stacks_tell_stack on stacks;
    create trigger stacks_tell_stack after insert or delete on stacks for each row execute function tell_change('stack');
    create trigger stacks_tell_stack_changed after update on stacks for each row when (to_jsonb(old) - 'looks' is distinct from to_jsonb(new) - 'looks') execute function tell_change('stack');

-- migration 20261122_60_config_changes
alter table configs add updated_by text;
    create table config_changes (id uuid primary key, key text not null, value text, actor_id uuid not null, actor_name text not null, created_at timestamptz not null);
    create index config_changes_key on config_changes (key, created_at desc, id desc);

-- migration 20261122_61_overview_of_nodes
create or replace function name_of_operation() returns trigger language plpgsql as $$
    declare named text := case new.resource_type
      when 'vm' then 'vms'
      when 'snapshot' then 'vm_snapshots'
      when 'volume' then 'volumes'
      when 'volumeSnapshot' then 'volume_snapshots'
      when 'volumeBackup' then 'volume_backups'
      when 'image' then 'images'
      when 'vpc' then 'vpcs'
      when 'host' then 'hosts'
      when 'edge' then 'edges'
      when 'edge_image_pull' then 'edge_image_pulls'
      when 'container' then 'containers'
      when 'stack' then 'stacks'
    end;
    begin
      if to_regclass(named) is not null then
        execute format('select %I from %I where id = $1', case named when 'edge_image_pulls' then 'image' else 'name' end, named) into new.resource_name using new.resource_id;
        new.resource_name := coalesce(new.resource_name, '');
      end if;
      return new;
    end $$;

-- migration 20261122_62_edge_minutes
create table edge_minutes (
      edge_id uuid not null references edges on delete cascade,
      until timestamptz not null,
      data bytea not null,
      primary key (edge_id, until)
    );
    create index edge_minutes_until on edge_minutes (until);

-- migration 20261122_70_ledger
drop table ledger_entries;
    drop function ledger_entry_counts, ledger_movement_balances;
    alter table accounts drop column balance;

    create table ledger_accounts (
      owner_id uuid not null references accounts,
      account text not null check (account in ('wallet', 'held', 'credit', 'receivable', 'revenue', 'funds', 'refunds', 'adjustments')),
      balance numeric(38, 0) not null default 0,
      lowest numeric(38, 0) default 0,
      highest numeric(38, 0),
      primary key (owner_id, account),
      constraint ledger_accounts_bounds check (balance >= lowest and balance <= highest)
    );
    create table ledger_transactions (
      id uuid primary key,
      owner_id uuid not null references accounts,
      kind text not null,
      key text not null,
      request text not null,
      note text not null,
      ends uuid references ledger_transactions,
      created_by uuid,
      created_by_name text not null,
      at timestamptz not null default now(),
      constraint ledger_transactions_key unique (owner_id, key),
      constraint ledger_transactions_ends unique (ends)
    );
    create table ledger_entries (
      id bigint generated always as identity primary key,
      transaction_id uuid not null references ledger_transactions,
      owner_id uuid not null,
      account text not null,
      amount numeric(38, 0) not null check (amount <> 0),
      balance_after numeric(38, 0) not null,
      at timestamptz not null default now(),
      unique (transaction_id, owner_id, account),
      foreign key (owner_id, account) references ledger_accounts
    );
    create index ledger_entries_owner on ledger_entries (owner_id, id);
    create index ledger_transactions_newest on ledger_transactions (owner_id, at);

    -- Before the entry, so that it can tell the balance that it makes.
    create function ledger_entry_counts() returns trigger language plpgsql as $$
    begin
      insert into ledger_accounts (owner_id, account, lowest, highest)
        values (
          new.owner_id,
          new.account,
          case when new.account in ('wallet', 'held', 'credit') then 0 end,
          case when new.account in ('credit', 'receivable') then 0 end
        )
        on conflict do nothing;
      update ledger_accounts set balance = balance + new.amount
        where owner_id = new.owner_id and account = new.account
        returning balance into new.balance_after;
      return new;
    end $$;
    create trigger ledger_entry_counts before insert on ledger_entries
      for each row execute function ledger_entry_counts();

    create function ledger_balance_is_derived() returns trigger language plpgsql as $$
    begin
      -- Depth 1 is a statement of somebody's; the entries' own trigger is deeper.
      if pg_trigger_depth() = 1 then
        raise exception 'a balance is the sum of its entries, and changes with them only';
      end if;
      return new;
    end $$;
    create trigger ledger_balance_is_derived before update of balance on ledger_accounts
      for each row execute function ledger_balance_is_derived();

    -- Double entry: checked when the transaction ends, so that entries may be written one by one.
    create function ledger_transaction_balances() returns trigger language plpgsql as $$
    declare
      movement uuid := case when tg_table_name = 'ledger_entries' then (to_jsonb(new) ->> 'transaction_id')::uuid else (to_jsonb(new) ->> 'id')::uuid end;
      entries integer;
      total numeric;
    begin
      select count(*), sum(amount) into entries, total from ledger_entries where transaction_id = movement;
      if entries < 2 or total <> 0 then
        raise exception 'movement % does not balance', movement;
      end if;
      if (select at from ledger_transactions where id = movement) <> now() then
        raise exception 'movement % is closed', movement;
      end if;
      return null;
    end $$;
    create constraint trigger ledger_entries_balance after insert on ledger_entries
      deferrable initially deferred for each row execute function ledger_transaction_balances();
    create constraint trigger ledger_transactions_balance after insert on ledger_transactions
      deferrable initially deferred for each row execute function ledger_transaction_balances();

    create trigger ledger_is_append_only before update or delete or truncate on ledger_entries
      for each statement execute function ledger_is_append_only();
    create trigger ledger_is_append_only before update or delete or truncate on ledger_transactions
      for each statement execute function ledger_is_append_only();

-- migration 20261122_71_price_catalogue
create table bill_categories (
      id uuid primary key,
      name text not null constraint bill_categories_name unique,
      description text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create table bill_products (
      id uuid primary key,
      category_id uuid not null constraint bill_products_category references bill_categories,
      name text not null constraint bill_products_name unique,
      description text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index bill_products_of_category on bill_products (category_id);
    create table bill_skus (
      id uuid primary key,
      product_id uuid not null references bill_products,
      name text not null,
      meter text not null,
      variant text not null,
      created_at timestamptz not null default now(),
      constraint bill_skus_meter unique (meter, variant)
    );
    create index bill_skus_product on bill_skus (product_id);
    create table bill_prices (
      id uuid primary key,
      number bigint generated always as identity,
      sku_id uuid not null references bill_skus,
      period text not null check (period in ('hour', 'month', 'year')),
      -- [{ "above": units, "price": "minor units" }]
      tiers jsonb not null,
      effective_from timestamptz not null,
      effective_to timestamptz check (effective_to > effective_from),
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create index bill_prices_sku on bill_prices (sku_id, period, effective_from, number);
    create table bill_discounts (
      id uuid primary key,
      name text not null,
      -- Ten-thousandths.
      fraction integer not null check (fraction between 1 and 10000),
      bp_id uuid,
      product_id uuid references bill_products,
      period text check (period in ('hour', 'month', 'year')),
      effective_from timestamptz not null,
      effective_to timestamptz check (effective_to >= effective_from),
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null default now()
    );
    create index bill_discounts_bp on bill_discounts (bp_id);
    create index bill_discounts_product on bill_discounts (product_id);

    -- What was priced stays priced so: a change is another row, and no row changes what is past.
    create function prices_are_append_only() returns trigger language plpgsql as $$
    begin
      raise exception 'prices are append-only: add another';
    end $$;
    create trigger prices_are_append_only before update or delete or truncate on bill_prices
      for each statement execute function prices_are_append_only();
    create function discounts_only_end() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' or (to_jsonb(new) - 'effective_to') <> (to_jsonb(old) - 'effective_to') then
        raise exception 'a discount only ends';
      end if;
      return new;
    end $$;
    create trigger discounts_only_end before update or delete on bill_discounts
      for each row execute function discounts_only_end();

-- migration 20261122_72_metering
-- What a resource uses from a moment on, all of it: so the same events in any order, late or
    -- twice, say the same.
    create sequence usage_revision;
    create table usage_events (
      id uuid primary key,
      resource_type text not null,
      resource_id uuid not null,
      resource_name text not null,
      bp_id uuid not null,
      project_id uuid,
      at timestamptz not null,
      -- Which of two of one moment is the later.
      revision bigint not null default nextval('usage_revision'),
      -- { "meter" or "meter/variant": quantity }; empty: nothing any more.
      usage jsonb not null,
      settled boolean not null default false
    );
    create index usage_events_resource on usage_events (resource_id, at, revision);
    create index usage_events_waiting on usage_events (resource_id) where not settled;

    create function usage_events_only_settle() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' or (to_jsonb(new) - 'settled') <> (to_jsonb(old) - 'settled') then
        raise exception 'usage events are append-only';
      end if;
      return new;
    end $$;
    create trigger usage_events_only_settle before update or delete on usage_events
      for each row execute function usage_events_only_settle();

    -- For triggers of whoever keeps resources. What belongs to no organisation has nobody to pay.
    create function record_usage(kind text, resource uuid, named text, bp uuid, project uuid, used jsonb) returns void language sql as $$
      insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, usage)
      select gen_random_uuid(), kind, resource, named, bp, project, clock_timestamp(), used where bp is not null;
    $$;

    create table metered_resources (
      id uuid primary key,
      type text not null,
      name text not null,
      bp_id uuid not null,
      -- Everything before has its lines.
      rated_until timestamptz not null,
      -- There is nothing to rate from then on; null: it goes on.
      rate_to timestamptz
    );
    create index metered_resources_waiting on metered_resources (rated_until) where rate_to is null or rated_until < rate_to;

    -- Derived from the events: of one meter of a resource none overlap, and neighbours differ.
    create table usage_intervals (
      resource_id uuid not null references metered_resources,
      meter text not null,
      variant text not null,
      bp_id uuid not null,
      project_id uuid,
      quantity bigint not null check (quantity > 0),
      "from" timestamptz not null,
      "to" timestamptz check ("to" > "from"),
      primary key (resource_id, meter, variant, "from")
    );

-- migration 20261122_73_usage_of_resources
-- What has been made is there, and takes room, until its record goes; processors and memory
    -- only while it runs, GPUs as long as nobody else can have them. What the engine lost is gone.
    create function usage_of(vm vms) returns jsonb language sql stable as $$
      select case
        when vm.observed is null or vm.observed = 'lost' then '{}'
        else jsonb_build_object('vm.disk', vm.disk_bytes)
          || case when vm.observed in ('running', 'paused') then jsonb_build_object('vm.vcpu', vm.cpu_cores, 'vm.memory', vm.memory_bytes) else '{}' end
          || coalesce((select jsonb_object_agg('vm.gpu/' || model, cards) from (select model, count(*) as cards from host_gpus where vm_id = vm.id group by model) as held), '{}')
      end
    $$;
    create function usage_of(volume volumes) returns jsonb language sql stable as $$
      select case when volume.observed is null or volume.observed = 'lost' then '{}' else jsonb_build_object('volume.size/' || volume.pool, volume.size_bytes) end
    $$;
    -- An address is the organisation's from the moment it is allocated, whether it leads anywhere or not.
    create function usage_of(eip eips) returns jsonb language sql stable as $$
      select jsonb_build_object('eip.address', 1) || case when eip.bandwidth_mbps is null then '{}' else jsonb_build_object('eip.bandwidth', eip.bandwidth_mbps) end
    $$;
    create function usage_of(snapshot vm_snapshots) returns jsonb language sql stable as $$
      select case when snapshot.status in ('creating', 'lost') or coalesce(snapshot.size_bytes, 0) = 0 then '{}' else jsonb_build_object('snapshot.size', snapshot.size_bytes) end
    $$;
    create function usage_of(snapshot volume_snapshots) returns jsonb language sql stable as $$
      select case when snapshot.status in ('creating', 'lost') then '{}' else jsonb_build_object('snapshot.size', snapshot.size_bytes) end
    $$;
    create function usage_of(backup volume_backups) returns jsonb language sql stable as $$
      select case when coalesce(backup.file_bytes, 0) = 0 then '{}' else jsonb_build_object('backup.size', backup.file_bytes) end
    $$;
    create function usage_of(image images) returns jsonb language sql stable as $$
      select case when image.visibility = 'private' and image.status in ('active', 'deleting') and coalesce(image.size_bytes, 0) > 0 then jsonb_build_object('image.size', image.size_bytes) else '{}' end
    $$;

    create function tell_usage() returns trigger language plpgsql as $$
    declare
      before jsonb := '{}';
      after jsonb := '{}';
      was jsonb := '{}';
      now_is jsonb := '{}';
    begin
      if tg_op <> 'INSERT' then
        before := usage_of(old);
        was := to_jsonb(old);
      end if;
      if tg_op <> 'DELETE' then
        after := usage_of(new);
        now_is := to_jsonb(new);
      end if;
      -- What belongs to nobody uses nothing.
      if was ->> 'bp_id' is null then before := '{}'; end if;
      if now_is ->> 'bp_id' is null then after := '{}'; end if;
      if before <> after or (after <> '{}' and (was ->> 'bp_id', was ->> 'project_id') is distinct from (now_is ->> 'bp_id', now_is ->> 'project_id')) then
        perform record_usage(
          tg_argv[0],
          coalesce(now_is ->> 'id', was ->> 'id')::uuid,
          coalesce(now_is ->> 'name', was ->> 'name'),
          coalesce(now_is ->> 'bp_id', was ->> 'bp_id')::uuid,
          (case when now_is ->> 'bp_id' is null then was ->> 'project_id' else now_is ->> 'project_id' end)::uuid,
          after
        );
      end if;
      return null;
    end $$;
    
          create trigger vms_tell_usage after insert or delete or update of observed, cpu_cores, memory_bytes, disk_bytes, bp_id, project_id on vms for each row execute function tell_usage('vm');
          select record_usage('vm', id, name, bp_id, (to_jsonb(vms) ->> 'project_id')::uuid, usage_of(vms)) from vms where bp_id is not null and usage_of(vms) <> '{}';
        
          create trigger volumes_tell_usage after insert or delete or update of observed, pool, size_bytes, bp_id, project_id on volumes for each row execute function tell_usage('volume');
          select record_usage('volume', id, name, bp_id, (to_jsonb(volumes) ->> 'project_id')::uuid, usage_of(volumes)) from volumes where bp_id is not null and usage_of(volumes) <> '{}';
        
          create trigger eips_tell_usage after insert or delete or update of bandwidth_mbps, bp_id, project_id on eips for each row execute function tell_usage('eip');
          select record_usage('eip', id, name, bp_id, (to_jsonb(eips) ->> 'project_id')::uuid, usage_of(eips)) from eips where bp_id is not null and usage_of(eips) <> '{}';
        
          create trigger vm_snapshots_tell_usage after insert or delete or update of status, size_bytes, bp_id on vm_snapshots for each row execute function tell_usage('snapshot');
          select record_usage('snapshot', id, name, bp_id, (to_jsonb(vm_snapshots) ->> 'project_id')::uuid, usage_of(vm_snapshots)) from vm_snapshots where bp_id is not null and usage_of(vm_snapshots) <> '{}';
        
          create trigger volume_snapshots_tell_usage after insert or delete or update of status, size_bytes, bp_id, project_id on volume_snapshots for each row execute function tell_usage('volumeSnapshot');
          select record_usage('volumeSnapshot', id, name, bp_id, (to_jsonb(volume_snapshots) ->> 'project_id')::uuid, usage_of(volume_snapshots)) from volume_snapshots where bp_id is not null and usage_of(volume_snapshots) <> '{}';
        
          create trigger volume_backups_tell_usage after insert or delete or update of status, file_bytes, bp_id, project_id on volume_backups for each row execute function tell_usage('volumeBackup');
          select record_usage('volumeBackup', id, name, bp_id, (to_jsonb(volume_backups) ->> 'project_id')::uuid, usage_of(volume_backups)) from volume_backups where bp_id is not null and usage_of(volume_backups) <> '{}';
        
          create trigger images_tell_usage after insert or delete or update of status, visibility, size_bytes, bp_id on images for each row execute function tell_usage('image');
          select record_usage('image', id, name, bp_id, (to_jsonb(images) ->> 'project_id')::uuid, usage_of(images)) from images where bp_id is not null and usage_of(images) <> '{}';
        

    -- Cards are given to instances after these were recorded.
    create function tell_usage_of_gpus() returns trigger language plpgsql as $$
    begin
      perform record_usage('vm', id, name, bp_id, project_id, usage_of(vms)) from vms where id in (old.vm_id, new.vm_id) and usage_of(vms) <> '{}';
      return null;
    end $$;
    create trigger host_gpus_tell_usage after update of vm_id on host_gpus
      for each row when (old.vm_id is distinct from new.vm_id) execute function tell_usage_of_gpus();

-- migration 20261122_74_usage_lines
create table usage_lines (
      id bigint generated always as identity primary key,
      resource_id uuid not null,
      bp_id uuid not null,
      project_id uuid,
      product_id uuid not null,
      sku_id uuid not null,
      price_id uuid not null,
      discount_id uuid,
      "from" timestamptz not null,
      quantity bigint not null,
      seconds smallint not null check (seconds between 1 and 3600),
      -- Ten-thousandths.
      fraction smallint not null,
      meter text not null,
      variant text not null,
      amount numeric(38, 0) not null check (amount >= 0),
      -- Set where usage turned out to be otherwise: another line stands for it, or none.
      voided_at timestamptz
    );
    create unique index usage_lines_once on usage_lines (resource_id, "from", meter, variant) where voided_at is null;
    create index usage_lines_newest on usage_lines (bp_id, "from", id) where voided_at is null;

    create function usage_lines_only_void() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' or old.voided_at is not null or (to_jsonb(new) - 'voided_at') <> (to_jsonb(old) - 'voided_at') then
        raise exception 'lines of usage are only voided';
      end if;
      return new;
    end $$;
    create trigger usage_lines_only_void before update or delete on usage_lines
      for each row execute function usage_lines_only_void();

    -- Sums of the lines that are not void.
    create table usage_sums (
      bp_id uuid not null,
      month date not null,
      dimension text not null,
      key text not null,
      amount numeric(38, 0) not null,
      primary key (bp_id, month, dimension, key)
    );
    create index usage_sums_greatest on usage_sums (bp_id, month, dimension, amount desc, key);

    -- By the lines themselves, so that no code can forget to; in one order, so that none wait for each other in a circle.
    create function usage_lines_add_up() returns trigger language plpgsql as $$
    begin
      insert into usage_sums as sums (bp_id, month, dimension, key, amount)
      select bp_id, date_trunc('month', day)::date, dimension, coalesce(key, ''), sum(amount)
      from (
        select bp_id, ("from" at time zone 'Asia/Shanghai')::date as day, product_id, project_id, resource_id,
          sum(case when voided_at is null then amount else -amount end) as amount
        from changed group by 1, 2, 3, 4, 5
      ) as by_all
      cross join lateral (values ('month', ''), ('day', day::text), ('product', product_id::text), ('project', project_id::text), ('resource', resource_id::text)) as by_one (dimension, key)
      group by 1, 2, 3, 4
      order by 1, 2, 3, 4
      on conflict (bp_id, month, dimension, key) do update set amount = sums.amount + excluded.amount;
      return null;
    end $$;
    create trigger usage_lines_added after insert on usage_lines
      referencing new table as changed for each statement execute function usage_lines_add_up();
    create trigger usage_lines_voided after update on usage_lines
      referencing new table as changed for each statement execute function usage_lines_add_up();

    -- What of each month's usage is in the ledger.
    create table usage_postings (
      bp_id uuid not null,
      month date not null,
      amount numeric(38, 0) not null,
      primary key (bp_id, month)
    );

-- migration 20261122_75_rating
-- No line of the resource begins at or after this.
    alter table metered_resources add lines_until timestamptz not null default '-infinity';
    create index usage_sums_of_all on usage_sums (month, dimension, bp_id);
    create index usage_sums_months on usage_sums (bp_id, month) include (amount) where dimension = 'month';

-- migration 20261122_80_prepaid
create table prepaid_resources (
      resource_id uuid primary key,
      resource_type text not null check (resource_type in ('vm', 'volume', 'eip')),
      resource_name text not null,
      bp_id uuid not null,
      auto_renew boolean not null,
      period text not null check (period in ('month', 'year')),
      count integer not null check (count > 0),
      renew_at timestamptz,
      error_text text,
      constraint prepaid_resources_renewal check (auto_renew = (renew_at is not null))
    );
    create index prepaid_resources_due on prepaid_resources (renew_at) where renew_at is not null;

    -- Of one resource none overlap: they are written under its row of prepaid_resources.
    create table prepaid_spans (
      order_id uuid primary key,
      resource_id uuid not null,
      "from" timestamptz not null check ("from" = date_trunc('second', "from")),
      "to" timestamptz not null check ("to" > "from" and "to" = date_trunc('second', "to")),
      usage jsonb not null
    );
    create index prepaid_spans_resource on prepaid_spans (resource_id, "to");

-- migration 20261122_81_orders
create table bill_orders (
      id uuid primary key,
      number bigint generated always as identity (start with 100001),
      bp_id uuid not null,
      kind text not null check (kind in ('purchase', 'conversion', 'renewal')),
      status text not null check (status in ('unpaid', 'paid', 'delivered', 'refunded', 'cancelled', 'expired')),
      resource_type text not null,
      resource_id uuid,
      resource_name text not null,
      period text not null,
      count integer not null check (count > 0),
      auto_renew boolean not null,
      automatic boolean not null,
      quote jsonb not null,
      usage jsonb not null,
      amount numeric(38, 0) not null check (amount >= 0),
      refunded numeric(38, 0) check (refunded between 0 and amount),
      sealed text,
      hold_id uuid references ledger_transactions,
      covered_from timestamptz,
      covered_to timestamptz,
      error_text text,
      expires_at timestamptz not null,
      created_by uuid,
      created_by_name text not null,
      created_at timestamptz not null,
      paid_at timestamptz,
      constraint bill_orders_covered check ((covered_from is null) = (covered_to is null)),
      constraint bill_orders_subject check (kind = 'purchase' or resource_id is not null)
    );
    create index bill_orders_bp on bill_orders (bp_id, created_at desc);
    create index bill_orders_newest on bill_orders (created_at desc, id);
    create index bill_orders_resource on bill_orders (resource_id) where resource_id is not null;
    create index bill_orders_unpaid on bill_orders (expires_at) where status = 'unpaid';
    -- Of one resource at most one order waits.
    create unique index bill_orders_pending on bill_orders (resource_id) where status in ('unpaid', 'paid');

    create table bill_order_events (
      id bigint generated always as identity primary key,
      order_id uuid not null references bill_orders,
      what text not null,
      by text not null,
      note text not null,
      at timestamptz not null
    );
    create index bill_order_events_order on bill_order_events (order_id, id);

-- migration 20261122_82_topups
create table payment_channels (
      id uuid primary key,
      name text not null,
      enabled boolean not null,
      gateway text not null,
      merchant_id text not null,
      sign_type text not null,
      gateway_public_key text not null,
      key text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create unique index payment_channels_name on payment_channels (name);

    create table topups (
      id uuid primary key,
      owner_id uuid not null references accounts,
      method text not null check (method in ('remittance', 'online', 'admin')),
      status text not null check (status in ('waiting', 'confirmed', 'cancelled')),
      amount numeric(38, 0) not null check (amount > 0),
      received numeric(38, 0) check (received > 0),
      code text not null,
      channel_id uuid references payment_channels,
      reference text not null,
      note text not null,
      created_by uuid,
      created_by_name text not null,
      confirmed_by_name text not null,
      created_at timestamptz not null,
      expires_at timestamptz,
      ended_at timestamptz,
      asked_at timestamptz,
      transaction_id uuid references ledger_transactions,
      constraint topups_transaction unique (transaction_id),
      -- Money came if and only if the ledger says so.
      check ((status = 'confirmed') = (transaction_id is not null) and (status = 'confirmed') = (received is not null)),
      check ((method = 'online') = (channel_id is not null))
    );
    create unique index topups_code on topups (code) where code <> '';
    -- A payment at a gateway pays for one order.
    create unique index topups_reference on topups (channel_id, reference) where channel_id is not null and reference <> '';
    create index topups_owner on topups (owner_id, created_at, id);
    create index topups_newest on topups (created_at, id);
    create index topups_unpaid on topups (created_at) where method = 'online' and status <> 'confirmed';

    -- What administrators charged before this was kept.
    insert into topups (id, owner_id, method, status, amount, received, code, reference, note, created_by, created_by_name, confirmed_by_name, created_at, ended_at, transaction_id)
      select movement.id, movement.owner_id, 'admin', 'confirmed', -entry.amount, -entry.amount, '', '', movement.note, movement.created_by, movement.created_by_name, movement.created_by_name, movement.at, movement.at, movement.id
      from ledger_transactions as movement
      join ledger_entries as entry on entry.transaction_id = movement.id and entry.account = 'funds'
      where movement.kind = 'topup';

-- migration 20261122_83_invoices
create table invoice_titles (
      id uuid primary key,
      owner_id uuid not null references accounts,
      kind text not null check (kind in ('company', 'personal')),
      name text not null,
      tax_number text not null,
      address text not null,
      phone text not null,
      bank text not null,
      bank_account text not null,
      email text not null,
      created_at timestamptz not null
    );
    create index invoice_titles_owner on invoice_titles (owner_id, created_at);
    create table invoices (
      id uuid primary key,
      owner_id uuid not null references accounts,
      status text not null check (status in ('asked', 'issued', 'rejected', 'withdrawn', 'voided')),
      "from" date not null,
      "to" date not null,
      amount numeric(38, 0) not null check (amount > 0),
      title jsonb not null,
      seller jsonb,
      number text not null,
      note text not null,
      reason text not null,
      created_by uuid not null,
      created_by_name text not null,
      created_at timestamptz not null,
      handled_by_name text not null,
      handled_at timestamptz,
      issued_at timestamptz,
      check ("from" <= "to")
    );
    create unique index invoices_number on invoices (number) where number <> '';
    create index invoices_owner on invoices (owner_id, created_at, id);
    create index invoices_newest on invoices (created_at, id);
    create table invoice_entries (
      entry_id bigint primary key references ledger_entries,
      invoice_id uuid not null references invoices
    );
    create index invoice_entries_invoice on invoice_entries (invoice_id);
    create index ledger_entries_consumption on ledger_entries (owner_id, at) where account in ('revenue', 'refunds');

-- migration 20261122_84_arrears
create table arrears_policies (
      bp_id uuid references organisations on delete cascade,
      low_balance numeric(38, 0) not null check (low_balance >= 0),
      grace_hours integer not null,
      warning_hours integer not null,
      suspends boolean not null,
      stop_vms boolean not null,
      stop_containers boolean not null,
      refuse_new boolean not null,
      resume boolean not null,
      updated_by_name text not null,
      updated_at timestamptz,
      constraint arrears_policies_one unique nulls not distinct (bp_id)
    );
    insert into arrears_policies values (null, 100 * 10^8, 72, 24, true, true, true, true, true, '', null);

    -- Whose standing is to be derived anew. A movement adds a row of its own, so whoever takes rows
    -- away has seen the movements of just those.
    create table standing_checks (
      id bigint generated always as identity primary key,
      owner_id uuid not null
    );
    create index standing_checks_owner on standing_checks (owner_id);

    create function standing_to_check() returns trigger language plpgsql as $$
    begin
      insert into standing_checks (owner_id) values (new.owner_id);
      perform pg_notify('zhisuan', 'bill.standing -');
      return null;
    end $$;
    create trigger ledger_transactions_check_standing after insert on ledger_transactions
      for each row execute function standing_to_check();
    create trigger ledger_accounts_check_standing after insert or update of lowest on ledger_accounts
      for each row when (new.account = 'credit') execute function standing_to_check();

    -- Whoever starts or makes something shares the row; whoever changes it waits for them.
    create table account_standings (
      owner_id uuid primary key references accounts,
      state text not null check (state in ('normal', 'low', 'arrears', 'suspended')),
      since timestamptz not null,
      arrears_since timestamptz,
      grace_until timestamptz,
      warned boolean not null default false,
      due_at timestamptz,
      check ((arrears_since is not null) = (state in ('arrears', 'suspended')))
    );
    create index account_standings_due on account_standings (due_at) where due_at is not null;
    create index account_standings_state on account_standings (state, owner_id);

    create table standing_changes (
      id bigint generated always as identity primary key,
      owner_id uuid not null references accounts,
      from_state text not null,
      to_state text not null check (to_state <> from_state),
      balance numeric(38, 0) not null,
      grace_until timestamptz,
      at timestamptz not null
    );
    create index standing_changes_owner on standing_changes (owner_id, id);

    create table suspensions (
      id uuid primary key,
      owner_id uuid not null references accounts,
      phase text not null check (phase in ('suspending', 'suspended', 'resuming', 'ended')),
      look_at timestamptz not null,
      began_at timestamptz not null,
      ended_at timestamptz
    );
    create unique index suspensions_one on suspensions (owner_id) where phase <> 'ended';
    create index suspensions_look on suspensions (look_at) where phase <> 'ended';
    create index suspensions_owner on suspensions (owner_id, began_at);

    create table suspended_resources (
      suspension_id uuid not null references suspensions,
      kind text not null,
      resource_id uuid not null,
      name text not null,
      state text not null check (state in ('stopping', 'stopped', 'starting', 'started', 'left')),
      operation_id uuid,
      detail jsonb,
      tries integer not null,
      error_text text,
      retry_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (suspension_id, kind, resource_id)
    );

-- migration 20261122_85_bill_notices
create table bill_notices (
      id uuid primary key,
      bp_id uuid not null,
      kind text not null,
      text text not null,
      at timestamptz not null
    );
    create index bill_notices_newest on bill_notices (at, id);
    create index bill_notices_newest_bp on bill_notices (bp_id, at, id);
    create table bill_notice_deliveries (
      id uuid primary key,
      notice_id uuid not null references bill_notices,
      channel text not null check (channel in ('email', 'sms')),
      address text not null,
      status text not null default 'waiting' check (status in ('waiting', 'sent', 'failed')),
      unique (notice_id, channel, address)
    );
    create table bill_notice_contacts (
      bp_id uuid primary key references organisations on delete cascade,
      contacts jsonb not null
    );

-- migration 20261122_85_budgets
create table budgets (
      id uuid primary key,
      bp_id uuid not null references organisations on delete cascade,
      name text not null,
      amount numeric(38, 0) not null check (amount > 0),
      project_id uuid,
      product_id uuid,
      thresholds integer[] not null,
      created_by_name text not null,
      created_at timestamptz not null default now(),
      constraint budgets_name unique (bp_id, name),
      check (project_id is null or product_id is null)
    );
    -- What was told: each threshold once in a month.
    create table budget_alerts (
      budget_id uuid not null references budgets on delete cascade,
      month date not null,
      percent integer not null,
      at timestamptz not null,
      primary key (budget_id, month, percent)
    );

-- migration 20261122_86_usage_by_day_and_product
-- As before, with what of each day is whose.
    create or replace function usage_lines_add_up() returns trigger language plpgsql as $$
    begin
      insert into usage_sums as sums (bp_id, month, dimension, key, amount)
      select bp_id, date_trunc('month', day)::date, dimension, coalesce(key, ''), sum(amount)
      from (
        select bp_id, ("from" at time zone 'Asia/Shanghai')::date as day, product_id, project_id, resource_id,
          sum(case when voided_at is null then amount else -amount end) as amount
        from changed group by 1, 2, 3, 4, 5
      ) as by_all
      cross join lateral (values ('month', ''), ('day', day::text), ('product', product_id::text), ('project', project_id::text), ('resource', resource_id::text), ('dayProduct', day::text || ' ' || product_id::text)) as by_one (dimension, key)
      group by 1, 2, 3, 4
      order by 1, 2, 3, 4
      on conflict (bp_id, month, dimension, key) do update set amount = sums.amount + excluded.amount;
      return null;
    end $$;
    insert into usage_sums (bp_id, month, dimension, key, amount)
    select bp_id, date_trunc('month', day)::date, 'dayProduct', day::text || ' ' || product_id::text, sum(amount)
    from (select bp_id, ("from" at time zone 'Asia/Shanghai')::date as day, product_id, amount from usage_lines where voided_at is null) as line
    group by 1, 2, 4;

    -- What goes on, and what ended a moment ago: for forecasts.
    create index usage_intervals_ends on usage_intervals (bp_id, "to");

-- migration 20261122_88_authors_of_the_catalogue
-- What is there already was made before anybody wrote down by whom.
    alter table bill_categories add created_by uuid, add created_by_name text not null default '';
    alter table bill_products add created_by uuid, add created_by_name text not null default '';
    alter table bill_skus add created_by uuid, add created_by_name text not null default '';

    alter table bill_discounts add ended_by uuid, add ended_by_name text, add ended_at timestamptz;
    create or replace function discounts_only_end() returns trigger language plpgsql as $$
    declare ending constant text[] := '{effective_to, ended_by, ended_by_name, ended_at}';
    begin
      if tg_op = 'DELETE' or old.ended_at is not null or (to_jsonb(new) - ending) <> (to_jsonb(old) - ending) then
        raise exception 'a discount only ends';
      end if;
      return new;
    end $$;

    -- What is used now, by what prices are for.
    create index usage_intervals_open on usage_intervals (meter, variant) where "to" is null;

-- migration 20261123_00_iam
create table policies (
      id uuid primary key,
      bp_id uuid references organisations,
      name text not null,
      description text not null,
      default_version integer not null,
      last_version integer not null,
      search text generated always as (name || ' ' || description) stored,
      created_by text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index policies_name on policies (bp_id, lower(name)) nulls not distinct;
    create index policies_updated on policies (updated_at desc, id desc);
    create index policies_search on policies using gin (search gin_trgm_ops);
    create table policy_versions (
      policy_id uuid not null references policies on delete cascade,
      version integer not null,
      document jsonb not null,
      created_by text not null,
      created_at timestamptz not null default now(),
      primary key (policy_id, version)
    );
    create table roles (
      id uuid primary key,
      bp_id uuid references organisations,
      name text not null,
      description text not null,
      built_in boolean not null default false,
      base text not null,
      search text generated always as (name || ' ' || description) stored,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index roles_name on roles (bp_id, lower(name)) nulls not distinct;
    create index roles_search on roles using gin (search gin_trgm_ops);
    insert into roles (id, bp_id, name, description, built_in, base) values
      ('00000000-0000-7000-8000-000000000001', null, 'ADMIN', '', true, 'ADMIN'),
      ('00000000-0000-7000-8000-000000000002', null, 'TENANT', '', true, 'TENANT'),
      ('00000000-0000-7000-8000-000000000003', null, 'TENANT_ADMIN', '', true, 'TENANT_ADMIN'),
      ('00000000-0000-7000-8000-000000000004', null, 'OPERATION_SUPPORTER', '', true, 'OPERATION_SUPPORTER'),
      ('00000000-0000-7000-8000-000000000005', null, 'PROVIDER', '', true, 'PROVIDER'),
      ('00000000-0000-7000-8000-000000000006', null, 'COPOTE_NORMAL', '', true, 'COPOTE_NORMAL'),
      ('00000000-0000-7000-8000-000000000007', null, 'COPOTE_REVIEWER', '', true, 'COPOTE_REVIEWER'),
      ('00000000-0000-7000-8000-000000000008', null, 'COPOTE_ADMIN', '', true, 'COPOTE_ADMIN');
    create table role_members (
      role_id uuid not null references roles,
      user_id uuid not null references users on delete cascade,
      primary key (role_id, user_id)
    );
    create index role_members_user on role_members (user_id);
    create table policy_grants (
      id uuid primary key,
      policy_id uuid not null references policies,
      user_id uuid references users on delete cascade,
      role_id uuid references roles on delete cascade,
      project_id uuid references projects on delete cascade,
      created_by text not null,
      created_at timestamptz not null default now(),
      check (num_nonnulls(user_id, role_id, project_id) = 1)
    );
    create unique index policy_grants_holder on policy_grants (policy_id, user_id, role_id, project_id) nulls not distinct;
    create index policy_grants_user on policy_grants (user_id) where user_id is not null;
    create index policy_grants_role on policy_grants (role_id) where role_id is not null;
    create index policy_grants_project on policy_grants (project_id) where project_id is not null;
    create table policy_boundaries (
      id uuid primary key,
      policy_id uuid not null references policies,
      user_id uuid unique references users on delete cascade,
      bp_id uuid unique references organisations on delete cascade,
      check (num_nonnulls(user_id, bp_id) = 1)
    );
    create index policy_boundaries_policy on policy_boundaries (policy_id);

-- migration 20261123_01_organisations
alter table organisations add description text not null default '';
    alter table projects add description text not null default '';

-- migration 20261123_02_invitations
create table invitations (
      id uuid primary key,
      bp_id uuid not null references organisations on delete cascade,
      role text not null,
      note text not null,
      token_hash bytea not null unique,
      created_by text not null,
      created_by_id uuid not null references users on delete cascade,
      used_by text,
      used_at timestamptz,
      revoked_at timestamptz,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index invitations_bp on invitations (bp_id, created_at desc, id desc);

-- migration 20261123_03_audit_chain
create table audit_head (
      only_one boolean primary key default true check (only_one),
      number bigint not null,
      hash bytea not null
    );
    insert into audit_head (number, hash) values (0, sha256('zhisuan'));
    alter table audit_log add number bigint, add previous bytea, add hash bytea;
    create function audit_seal(entry audit_log) returns bytea language sql immutable as $$
      select sha256(entry.previous || convert_to(jsonb_build_array(
        entry.number, entry.id, extract(epoch from entry.at)::text, entry.call, entry.actor_id, entry.actor_name, entry.bp_id,
        entry.object_id, entry.request_id, entry.ip, entry.code
      )::text, 'UTF8'))
    $$;
    create function audit_append() returns trigger language plpgsql as $$
    begin
      update audit_head set number = number + 1 returning number, hash into new.number, new.previous;
      new.hash := audit_seal(new);
      update audit_head set hash = new.hash;
      return new;
    end
    $$;
    do $$
    declare
      entry audit_log;
    begin
      for entry in select * from audit_log order by at, id loop
        update audit_head set number = number + 1 returning number, hash into entry.number, entry.previous;
        entry.hash := audit_seal(entry);
        update audit_head set hash = entry.hash;
        update audit_log set number = entry.number, previous = entry.previous, hash = entry.hash where id = entry.id;
      end loop;
    end
    $$;
    alter table audit_log alter number set not null, alter previous set not null, alter hash set not null;
    create unique index audit_log_number on audit_log (number);
    create index audit_log_bp on audit_log (bp_id, number);
    create index audit_log_actor on audit_log (actor_id, number);
    create index audit_log_call on audit_log (call, number);
    create index audit_log_request on audit_log (request_id);
    create trigger audit_append before insert on audit_log for each row execute function audit_append();
    create function audit_keep() returns trigger language plpgsql as $$
    begin
      raise exception 'the audit log is not changed';
    end
    $$;
    create trigger audit_keep before update or delete or truncate on audit_log for each statement execute function audit_keep();

-- migration 20261123_04_second_factors
create table second_factors (
      user_id uuid primary key references users on delete cascade,
      secret text not null,
      confirmed_at timestamptz,
      last_step bigint not null default 0,
      created_at timestamptz not null default now()
    );
    create table recovery_codes (
      user_id uuid not null references users on delete cascade,
      hash bytea not null,
      used_at timestamptz,
      primary key (user_id, hash)
    );
    alter table sessions add authenticated_by text not null default 'password', add second_factor_at timestamptz;

-- migration 20261123_06_passkeys
create table passkeys (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      credential_id text not null,
      public_key bytea not null,
      counter bigint not null,
      synced boolean not null,
      name text not null,
      created_at timestamptz not null default now(),
      last_used_at timestamptz
    );
    create unique index passkeys_credential on passkeys (credential_id);
    create index passkeys_user on passkeys (user_id, created_at);
    create table passkey_challenges (
      challenge text primary key,
      user_id uuid references users on delete cascade,
      expires_at timestamptz not null
    );
    create index passkey_challenges_expiry on passkey_challenges (expires_at);

-- migration 20261123_07_identity_providers
create table identity_providers (
      id uuid primary key,
      name text not null,
      enabled boolean not null,
      issuer text not null,
      client_id text not null,
      client_secret text,
      scopes text[] not null,
      claims jsonb not null,
      linking text not null check (linking in ('nobody', 'owner', 'email')),
      creates_people boolean not null,
      bp_id uuid references organisations,
      role text,
      email_domains text[] not null,
      mfa_values text[] not null,
      ends_session boolean not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null,
      check (not creates_people or bp_id is not null)
    );
    create unique index identity_providers_name on identity_providers (lower(name));
    create table identities (
      id uuid primary key,
      provider_id uuid not null references identity_providers on delete cascade,
      user_id uuid not null references users on delete cascade,
      subject text not null,
      account text not null,
      created_at timestamptz not null default now(),
      last_used_at timestamptz
    );
    create unique index identities_subject on identities (provider_id, subject);
    create unique index identities_user on identities (user_id, provider_id);
    create table sign_on_flows (
      state_hash bytea primary key,
      browser_hash bytea not null,
      provider_id uuid not null references identity_providers on delete cascade,
      code_verifier text not null,
      nonce text not null,
      redirect text,
      session_id uuid references sessions on delete cascade,
      expires_at timestamptz not null
    );
    create index sign_on_flows_expiry on sign_on_flows (expires_at);
    create table sign_ons (
      ticket_hash bytea primary key,
      identity_id uuid not null references identities on delete cascade,
      second boolean not null,
      id_token text not null,
      expires_at timestamptz not null
    );
    create index sign_ons_expiry on sign_ons (expires_at);
    create table sign_on_sessions (
      session_id uuid primary key references sessions on delete cascade,
      provider_id uuid not null references identity_providers on delete cascade,
      id_token text not null
    );

-- migration 20261124_10_custom_services
create table custom_services (
      id text primary key,
      bp_id uuid references organisations on delete cascade,
      name text not null,
      description text not null,
      actions jsonb not null,
      condition_keys jsonb not null,
      created_by text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index custom_services_bp on custom_services (bp_id);
    create table custom_resource_types (
      service_id text not null references custom_services on delete cascade,
      type text not null,
      pattern text not null,
      description text not null,
      primary key (service_id, type)
    );

-- migration 20261124_20_access_keys
create table access_keys (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      name text not null,
      scheme text not null check (scheme in ('bearer', 'hmac')),
      status text not null check (status in ('active', 'disabled', 'blocked')),
      networks text[] not null,
      document jsonb,
      expires_at timestamptz,
      last_used_at timestamptz,
      last_used_ip text,
      created_at timestamptz not null
    );
    create index access_keys_user on access_keys (user_id);
    create table access_key_secrets (
      id uuid primary key,
      access_key_id uuid not null references access_keys on delete cascade,
      hash bytea unique,
      sealed text,
      hint text not null,
      created_at timestamptz not null,
      ends_at timestamptz,
      check ((hash is null) <> (sealed is null))
    );
    create index access_key_secrets_key on access_key_secrets (access_key_id);
    create unique index access_key_secrets_in_force on access_key_secrets (access_key_id) where ends_at is null;
    create table access_key_nonces (
      access_key_id uuid not null,
      hash bytea not null,
      created_at timestamptz not null,
      primary key (access_key_id, hash)
    );
    create index access_key_nonces_created on access_key_nonces (created_at);

-- migration 20261124_21_audit_access_keys
alter table audit_log add access_key_id uuid, add access_key_name text;
    create or replace function audit_seal(entry audit_log) returns bytea language sql immutable as $$
      select sha256(entry.previous || convert_to((jsonb_build_array(
        entry.number, entry.id, extract(epoch from entry.at)::text, entry.call, entry.actor_id, entry.actor_name, entry.bp_id,
        entry.object_id, entry.request_id, entry.ip, entry.code
      ) || case when entry.access_key_id is null and entry.access_key_name is null then '[]' else jsonb_build_array(entry.access_key_id, entry.access_key_name) end)::text, 'UTF8'))
    $$;

-- migration 20261125_10_budget_forecasts
alter table budgets
      add forecast_thresholds integer[] not null default '{}',
      add forecast numeric(38, 0),
      add forecast_at timestamptz,
      add constraint budgets_forecast check ((forecast is null) = (forecast_at is null));
    alter table budget_alerts
      add basis text not null default 'spent' check (basis in ('spent', 'forecast')),
      drop constraint budget_alerts_pkey,
      add primary key (budget_id, month, basis, percent);
    alter table budget_alerts alter basis drop default;

-- migration 20261125_10_keystone_projects
create table keystone_projects (
      cloud_id uuid not null references clouds,
      keystone_id text not null,
      bp_id uuid not null,
      project_id uuid,
      created_at timestamptz not null default now(),
      primary key (cloud_id, keystone_id),
      constraint keystone_projects_owner unique nulls not distinct (cloud_id, bp_id, project_id)
    );
    create index keystone_projects_bp on keystone_projects (bp_id, cloud_id);

-- migration 20261125_30_openstack_clouds
alter table clouds drop constraint clouds_health_check;
    alter table clouds add constraint clouds_health_check check (health in ('unknown', 'reachable', 'degraded', 'unreachable', 'unauthorised'));
    alter table clouds add services jsonb not null default '[]';
    -- What is known of a cloud's capacity is one thing, with what its hosts really have.
    update clouds set observed = jsonb_build_object(
      'engine', observed->'engine', 'engine_version', observed->'engine_version', 'instance_types', observed->'instance_types',
      'capacity', jsonb_build_object(
        'cpu_cores', (observed->'cpu_cores') || jsonb_build_object('physical', observed->'cpu_cores'->'total'),
        'memory_bytes', (observed->'memory_bytes') || jsonb_build_object('physical', observed->'memory_bytes'->'total'),
        'disk_bytes', (observed->'disk_bytes') || jsonb_build_object('physical', observed->'disk_bytes'->'total'),
        'nodes', observed->'nodes', 'running_instances', null))
    where observed is not null;
    create table cloud_capacity_samples (
      cloud_id uuid not null references clouds (id),
      at timestamptz not null,
      cpu_total double precision not null,
      cpu_used double precision not null,
      memory_total double precision not null,
      memory_used double precision not null,
      disk_total double precision not null,
      disk_used double precision not null,
      nodes integer not null,
      instances integer not null,
      primary key (cloud_id, at)
    );
    create index cloud_capacity_samples_at on cloud_capacity_samples (at);

-- migration 20261125_50_recycled_instances
create table recycled_instances (
      id uuid primary key,
      cloud_id uuid not null references clouds,
      instance_id text not null,
      name text not null,
      keystone_id text,
      bp_id uuid,
      status text not null check (status in ('recycling', 'recycled', 'restoring', 'purging')),
      ran boolean not null,
      flavor jsonb,
      floating_ips jsonb,
      error_text text,
      recycled_by text not null,
      recycled_at timestamptz not null default now(),
      until timestamptz not null,
      constraint recycled_instances_once unique (cloud_id, instance_id)
    );
    create index recycled_instances_bp on recycled_instances (bp_id, cloud_id);
    create index recycled_instances_due on recycled_instances (until) where status = 'recycled';
    create table recycle_retentions (
      cloud_id uuid primary key references clouds,
      days integer not null check (days between 1 and 365)
    );

-- migration 20261126_10_usage_at
-- For whoever learns later than it happened what is used, and knows since when.
    create function record_usage(kind text, resource uuid, named text, bp uuid, project uuid, used jsonb, moment timestamptz) returns void language sql as $$
      insert into usage_events (id, resource_type, resource_id, resource_name, bp_id, project_id, at, usage)
      select gen_random_uuid(), kind, resource, named, bp, project, moment, used where bp is not null;
    $$;

-- migration 20261126_20_cloud_usage
create table cloud_usage_looks (
      cloud_id uuid not null references clouds,
      type text not null,
      began_at timestamptz,
      primary key (cloud_id, type)
    );
    create table cloud_usage (
      cloud_id uuid not null references clouds,
      id uuid not null,
      type text not null,
      name text not null,
      keystone_id text,
      bp_id uuid not null,
      project_id uuid,
      usage jsonb not null,
      since timestamptz not null,
      primary key (cloud_id, id)
    );
    create index cloud_usage_id on cloud_usage (id);

    -- As tables of resources of the first family do: in the transaction that changes the row, whoever changes it.
    create function tell_cloud_usage() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        if old.usage <> '{}' then
          perform record_usage(old.type, old.id, old.name, old.bp_id, old.project_id, '{}', greatest(old.since, clock_timestamp()));
        end if;
      elsif tg_op = 'INSERT' then
        if new.usage <> '{}' then
          perform record_usage(new.type, new.id, new.name, new.bp_id, new.project_id, new.usage, new.since);
        end if;
      elsif new.usage <> old.usage or (new.usage <> '{}' and (new.bp_id, new.project_id) is distinct from (old.bp_id, old.project_id)) then
        perform record_usage(new.type, new.id, new.name, new.bp_id, new.project_id, new.usage, new.since);
      end if;
      return null;
    end $$;
    create trigger cloud_usage_tells after insert or update or delete on cloud_usage for each row execute function tell_cloud_usage();

-- migration 20261126_30_stopped_by_suspension
alter table cloud_usage add column stopped_by_suspension boolean not null default false
;
-- migration 20261127_10_names_of_used_resources
create or replace function tell_usage() returns trigger language plpgsql as $$
    declare
      before jsonb := '{}';
      after jsonb := '{}';
      was jsonb := '{}';
      now_is jsonb := '{}';
    begin
      if tg_op <> 'INSERT' then
        before := usage_of(old);
        was := to_jsonb(old);
      end if;
      if tg_op <> 'DELETE' then
        after := usage_of(new);
        now_is := to_jsonb(new);
      end if;
      -- What belongs to nobody uses nothing.
      if was ->> 'bp_id' is null then before := '{}'; end if;
      if now_is ->> 'bp_id' is null then after := '{}'; end if;
      if before <> after or (after <> '{}' and (was ->> 'bp_id', was ->> 'project_id') is distinct from (now_is ->> 'bp_id', now_is ->> 'project_id'))
        -- Bills call it by the name of its last event, also once it uses nothing any more.
        or (tg_op = 'UPDATE' and was ->> 'name' <> now_is ->> 'name' and now_is ->> 'bp_id' is not null and exists (select from usage_events where resource_id = (now_is ->> 'id')::uuid)) then
        perform record_usage(
          tg_argv[0],
          coalesce(now_is ->> 'id', was ->> 'id')::uuid,
          coalesce(now_is ->> 'name', was ->> 'name'),
          coalesce(now_is ->> 'bp_id', was ->> 'bp_id')::uuid,
          (case when now_is ->> 'bp_id' is null then was ->> 'project_id' else now_is ->> 'project_id' end)::uuid,
          after
        );
      end if;
      return null;
    end $$;
    
          drop trigger vms_tell_usage on vms;
          create trigger vms_tell_usage after insert or delete or update of observed, cpu_cores, memory_bytes, disk_bytes, bp_id, project_id, name on vms for each row execute function tell_usage('vm');
          select record_usage('vm', known.id, known.name, known.bp_id, (to_jsonb(known) ->> 'project_id')::uuid, usage_of(known))
          from vms as known join metered_resources as billed on billed.id = known.id where billed.name <> known.name;
        
          drop trigger volumes_tell_usage on volumes;
          create trigger volumes_tell_usage after insert or delete or update of observed, pool, size_bytes, bp_id, project_id, name on volumes for each row execute function tell_usage('volume');
          select record_usage('volume', known.id, known.name, known.bp_id, (to_jsonb(known) ->> 'project_id')::uuid, usage_of(known))
          from volumes as known join metered_resources as billed on billed.id = known.id where billed.name <> known.name;
        
          drop trigger eips_tell_usage on eips;
          create trigger eips_tell_usage after insert or delete or update of bandwidth_mbps, bp_id, project_id, name on eips for each row execute function tell_usage('eip');
          select record_usage('eip', known.id, known.name, known.bp_id, (to_jsonb(known) ->> 'project_id')::uuid, usage_of(known))
          from eips as known join metered_resources as billed on billed.id = known.id where billed.name <> known.name;
        
          drop trigger vm_snapshots_tell_usage on vm_snapshots;
          create trigger vm_snapshots_tell_usage after insert or delete or update of status, size_bytes, bp_id, name on vm_snapshots for each row execute function tell_usage('snapshot');
          select record_usage('snapshot', known.id, known.name, known.bp_id, (to_jsonb(known) ->> 'project_id')::uuid, usage_of(known))
          from vm_snapshots as known join metered_resources as billed on billed.id = known.id where billed.name <> known.name;
        
          drop trigger volume_snapshots_tell_usage on volume_snapshots;
          create trigger volume_snapshots_tell_usage after insert or delete or update of status, size_bytes, bp_id, project_id, name on volume_snapshots for each row execute function tell_usage('volumeSnapshot');
          select record_usage('volumeSnapshot', known.id, known.name, known.bp_id, (to_jsonb(known) ->> 'project_id')::uuid, usage_of(known))
          from volume_snapshots as known join metered_resources as billed on billed.id = known.id where billed.name <> known.name;
        
          drop trigger volume_backups_tell_usage on volume_backups;
          create trigger volume_backups_tell_usage after insert or delete or update of status, file_bytes, bp_id, project_id, name on volume_backups for each row execute function tell_usage('volumeBackup');
          select record_usage('volumeBackup', known.id, known.name, known.bp_id, (to_jsonb(known) ->> 'project_id')::uuid, usage_of(known))
          from volume_backups as known join metered_resources as billed on billed.id = known.id where billed.name <> known.name;
        
          drop trigger images_tell_usage on images;
          create trigger images_tell_usage after insert or delete or update of status, visibility, size_bytes, bp_id, name on images for each row execute function tell_usage('image');
          select record_usage('image', known.id, known.name, known.bp_id, (to_jsonb(known) ->> 'project_id')::uuid, usage_of(known))
          from images as known join metered_resources as billed on billed.id = known.id where billed.name <> known.name;

-- migration 20261127_20_names_of_cloud_usage
create or replace function tell_cloud_usage() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        if old.usage <> '{}' then
          perform record_usage(old.type, old.id, old.name, old.bp_id, old.project_id, '{}', greatest(old.since, clock_timestamp()));
        end if;
      elsif tg_op = 'INSERT' then
        if new.usage <> '{}' then
          perform record_usage(new.type, new.id, new.name, new.bp_id, new.project_id, new.usage, new.since);
        end if;
      elsif new.usage <> old.usage or (new.usage <> '{}' and (new.bp_id, new.project_id) is distinct from (old.bp_id, old.project_id))
        -- Bills call it by the name of its last event, also once it uses nothing any more.
        or (new.name <> old.name and exists (select from usage_events where resource_id = new.id)) then
        perform record_usage(new.type, new.id, new.name, new.bp_id, new.project_id, new.usage, new.since);
      end if;
      return null;
    end $$;
    -- At the last look, to which it was so: what happened since is told by the next.
    with renamed as (
      update cloud_usage set since = greatest(since, looks.began_at)
      from cloud_usage_looks as looks, metered_resources as billed
      where looks.cloud_id = cloud_usage.cloud_id and looks.type = cloud_usage.type and billed.id = cloud_usage.id and billed.name <> cloud_usage.name
      returning cloud_usage.*
    )
    select record_usage(type, id, name, bp_id, project_id, usage, since) from renamed;

-- migration 20261127_25_orders_by_the_hour
alter table bill_orders drop constraint bill_orders_kind_check, drop constraint bill_orders_status_check;
    alter table bill_orders
      add constraint bill_orders_kind_check check (kind in ('onDemand', 'purchase', 'conversion', 'renewal')),
      add constraint bill_orders_status_check check (status in ('unpaid', 'paid', 'delivered', 'refunded', 'cancelled', 'expired', 'charging', 'ended')),
      add constraint bill_orders_by_the_hour check ((kind = 'onDemand') = (status in ('charging', 'ended')) and (kind = 'onDemand') = (period = 'hour'));
    -- One for each who pays for it.
    create unique index bill_orders_on_demand on bill_orders (resource_id, bp_id) where kind = 'onDemand';

-- migration 20261127_30_ledger_of_orders
create index ledger_transactions_orders on ledger_transactions (owner_id, at) where kind in ('order', 'capture', 'refund');

import ApartmentOutlined from '@ant-design/icons/es/icons/ApartmentOutlined'
import AuditOutlined from '@ant-design/icons/es/icons/AuditOutlined'
import BlockOutlined from '@ant-design/icons/es/icons/BlockOutlined'
import CloudOutlined from '@ant-design/icons/es/icons/CloudOutlined'
import CloudServerOutlined from '@ant-design/icons/es/icons/CloudServerOutlined'
import ClusterOutlined from '@ant-design/icons/es/icons/ClusterOutlined'
import ContainerOutlined from '@ant-design/icons/es/icons/ContainerOutlined'
import DashboardOutlined from '@ant-design/icons/es/icons/DashboardOutlined'
import FileProtectOutlined from '@ant-design/icons/es/icons/FileProtectOutlined'
import FolderOpenOutlined from '@ant-design/icons/es/icons/FolderOpenOutlined'
import LineChartOutlined from '@ant-design/icons/es/icons/LineChartOutlined'
import PartitionOutlined from '@ant-design/icons/es/icons/PartitionOutlined'
import ProfileOutlined from '@ant-design/icons/es/icons/ProfileOutlined'
import QuestionCircleOutlined from '@ant-design/icons/es/icons/QuestionCircleOutlined'
import ShopOutlined from '@ant-design/icons/es/icons/ShopOutlined'
import TeamOutlined from '@ant-design/icons/es/icons/TeamOutlined'
import WalletOutlined from '@ant-design/icons/es/icons/WalletOutlined'
import type { ComponentType } from 'react'
import type { RouteGroup } from '../routes.ts'

export const groupIcons: Readonly<Record<RouteGroup, ComponentType>> = {
  public: CloudOutlined,
  general: QuestionCircleOutlined,
  index: DashboardOutlined,
  license: FileProtectOutlined,
  nextStack: CloudServerOutlined,
  compute: CloudOutlined,
  containerApplication: ContainerOutlined,
  market: ShopOutlined,
  serverCluster: ClusterOutlined,
  mirror: BlockOutlined,
  middleware: ApartmentOutlined,
  fileTransfer: FolderOpenOutlined,
  statistics: LineChartOutlined,
  indent: WalletOutlined,
  iam: TeamOutlined,
  organisation: TeamOutlined,
  platform: PartitionOutlined,
  separateAccounting: AuditOutlined,
  workOrder: ProfileOutlined,
}

"""Starts MoveIt beside the node `outrigger ros2 CONFIG.toml`, which has the description of the robot and executes trajectories.

ros2 launch ./moveit.launch.py ur_type:=ur5e

Needs UR's package ur_moveit_config. moveit_controllers.yaml has to be in the folder of this file.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from moveit_configs_utils import MoveItConfigsBuilder

CONTROLLERS = Path(__file__).resolve().parent / "moveit_controllers.yaml"


def generate_launch_description():
    moveit = (
        MoveItConfigsBuilder(robot_name="ur", package_name="ur_moveit_config")
        .robot_description_semantic(Path("srdf") / "ur.srdf.xacro", {"name": LaunchConfiguration("ur_type")})
        .trajectory_execution(str(CONTROLLERS), moveit_manage_controllers=False)
        .to_moveit_configs()
    )
    # There is no parameter robot_description: move_group takes it from the node's topic of that name.
    move_group = Node(
        package="moveit_ros_move_group",
        executable="move_group",
        output="screen",
        parameters=[moveit.to_dict(), {"publish_robot_description_semantic": True}],
    )
    return LaunchDescription([DeclareLaunchArgument("ur_type", description="ur5e, for example"), move_group])

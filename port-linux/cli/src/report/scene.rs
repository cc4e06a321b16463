//! Draws an arm, a workpiece below its tool and the ray of a distance sensor, from the side.

use std::fmt::Write as _;

use super::plot::escape;

/// The objects of a drawing at one instant, in the frame of the arm's base \[m\].
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// A point on the axis of each joint, base first, followed by the tool centre point.
    pub arm: Vec<[f64; 3]>,
    /// The points of the workpiece's surface along a line below the tool.
    pub workpiece: Vec<[f64; 3]>,
    /// The distance from the tool centre point to the workpiece \[m\].
    pub distance: f64,
    /// The direction in which the tool points, a unit vector.
    pub looks: [f64; 3],
}

/// A point of a picture: its distances from the upper left corner, to the right and down, in units of the picture.
type Spot = [f64; 2];

/// A section of the vertical plane through arm and tool, and the part of a picture in which it is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// The position of the view's upper left corner in the whole picture.
    pub corner: Spot,
    /// The width and height of the view, in units of the picture.
    pub size: Spot,
    /// The point in the centre of the view: its position along the ground and its height \[m\].
    pub middle: [f64; 2],
    /// The number of units of the picture per metre.
    pub scale: f64,
}

/// The arm, the workpiece and the sensor's ray of a drawing in one view, as points of the picture.
pub(crate) struct Drawn {
    pub arm: Vec<Spot>,
    pub workpiece: Vec<Spot>,
    pub ray: [Spot; 2],
}

impl Scene {
    fn tool(&self) -> [f64; 3] {
        self.arm.last().copied().unwrap_or_default()
    }

    /// Returns the position of a point along the ground, in the direction from the base to the tool, and its height
    /// \[m\].
    fn side(&self, [x, y, z]: [f64; 3]) -> [f64; 2] {
        let [tool_x, tool_y, _] = self.tool();
        let away = tool_x.hypot(tool_y).max(1e-6);
        [(x * tool_x + y * tool_y) / away, z]
    }

    /// Returns the tool's position in the vertical plane that is drawn: its distance from the base along the ground,
    /// and its height \[m\].
    pub(crate) fn tool_from_the_side(&self) -> [f64; 2] {
        self.side(self.tool())
    }

    /// Returns the arm, the workpiece and the sensor's ray as points of the picture in this view.
    pub(crate) fn drawn(&self, view: &View) -> Drawn {
        let spot = |point: &[f64; 3]| view.spot(self.side(*point));
        let tool = self.tool();
        let hit = std::array::from_fn(|axis| tool[axis] + self.looks[axis] * self.distance);
        Drawn {
            arm: self.arm.iter().map(spot).collect(),
            workpiece: self.workpiece.iter().map(spot).collect(),
            ray: [spot(&tool), spot(&hit)],
        }
    }

    /// Returns a picture with the whole arm at the left, and the tool and the workpiece enlarged at the right.
    pub(crate) fn svg(&self, title: &str) -> String {
        let mut svg = format!(
            "<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"{}\">",
            MOMENT[0],
            MOMENT[1],
            escape(title)
        );
        for view in [self.whole([0.0, 0.0], [180.0, MOMENT[1]]), self.close([188.0, 40.0], [132.0, 160.0])] {
            self.draw(&mut svg, &view);
        }
        let _ = write!(
            svg,
            "<text class=\"note\" x=\"188\" y=\"222\">{:.1} mm from tool</text>\
             <text class=\"note\" x=\"188\" y=\"239\">to workpiece</text></svg>",
            self.distance * 1e3
        );
        svg
    }

    /// Returns a view that shows the whole arm and the workpiece.
    pub(crate) fn whole(&self, corner: Spot, size: Spot) -> View {
        let points = || self.arm.iter().chain(&self.workpiece).map(|point| self.side(*point));
        let ends = |axis: usize| {
            points()
                .map(|point| point[axis])
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], value| [least.min(value), most.max(value)])
        };
        let ([left, right], [low, high]) = (ends(0), ends(1));
        let (low, high) = (low.min(0.0) - 0.06, high + 0.08);
        let scale = (size[0] / (right - left + 0.16)).min(size[1] / (high - low));
        View { corner, size, middle: [f64::midpoint(left, right), f64::midpoint(low, high)], scale }
    }

    /// Returns an enlarged view of the tool and the workpiece below it.
    pub(crate) fn close(&self, corner: Spot, size: Spot) -> View {
        let [along, up] = self.tool_from_the_side();
        View { corner, size, middle: [along, up - 0.03], scale: size[1] / 0.2 }
    }

    fn draw(&self, svg: &mut String, view: &View) {
        let Drawn { arm, workpiece, ray } = self.drawn(view);
        view.begin(svg, "");
        let _ = write!(
            svg,
            "<polygon class=\"workpiece\" points=\"{}\"/><polyline class=\"ray\" points=\"{}\"/>\
             <polyline class=\"link\" points=\"{}\"/>",
            points(&view.filled(&workpiece)),
            points(&ray),
            points(&arm)
        );
        for [x, y] in &arm {
            let _ = write!(svg, "<circle class=\"joint\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>");
        }
        svg.push_str("</svg>");
    }
}

/// The width and height of a picture that shows one instant of the run, in units of the picture.
const MOMENT: Spot = [330.0, 250.0];

impl View {
    /// Returns the position in the picture of a point of the vertical plane, given by its position along the ground and
    /// its height \[m\].
    pub(crate) fn spot(&self, [along, up]: [f64; 2]) -> Spot {
        let [[x, y], [width, height]] = [self.corner, self.size];
        [x + width / 2.0 + (along - self.middle[0]) * self.scale, y + height / 2.0 - (up - self.middle[1]) * self.scale]
    }

    /// Begins the SVG element of this view within a picture, clipped at its edges; `class` is the CSS class of its
    /// background.
    pub(crate) fn begin(&self, svg: &mut String, class: &str) {
        let [[x, y], [width, height]] = [self.corner, self.size];
        let _ = write!(
            svg,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{x} {y} {width} {height}\">\
             <rect class=\"inset {class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>"
        );
    }

    /// Returns the outline of the area between `line` and the lower edge of the view, to be filled.
    pub(crate) fn filled(&self, line: &[Spot]) -> Vec<Spot> {
        let below = self.corner[1] + self.size[1] + 4.0;
        let (Some([first, _]), Some([last, _])) = (line.first(), line.last()) else { return Vec::new() };
        line.iter().copied().chain([[*last, below], [*first, below]]).collect()
    }
}

/// Returns points in the form of the attribute `points` of an SVG line.
pub(crate) fn points(spots: &[Spot]) -> String {
    let mut text = String::new();
    for [x, y] in spots {
        let _ = write!(text, "{x:.1},{y:.1} ");
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the objects of a drawing for the tests: an arm whose tool is 50 mm above a flat workpiece at a height of
    /// 0.1 m.
    fn scene() -> Scene {
        Scene {
            arm: vec![[0.0; 3], [0.0, 0.0, 0.2], [0.3, 0.4, 0.15]],
            workpiece: vec![[0.0, 0.0, 0.1], [0.6, 0.8, 0.1]],
            distance: 0.05,
            looks: [0.0, 0.0, -1.0],
        }
    }

    #[test]
    fn it_is_seen_from_the_side_on_which_the_tool_is_farthest_from_the_base() {
        let scene = scene();
        assert!((scene.tool_from_the_side()[0] - 0.5).abs() < 1e-9, "√(0.3² + 0.4²) m from the base");
        let view = scene.close([0.0, 0.0], [100.0, 200.0]);
        let Drawn { ray: [tool, hit], workpiece, .. } = scene.drawn(&view);
        assert!((hit[1] - tool[1] - 50.0).abs() < 1e-9, "50 mm at 1000 units to the metre");
        assert!((workpiece[0][1] - hit[1]).abs() < 1e-9, "the ray ends on the workpiece");
    }

    #[test]
    fn the_whole_of_it_is_inside_its_view() {
        let scene = scene();
        let view = scene.whole([10.0, 20.0], [300.0, 200.0]);
        let Drawn { arm, workpiece, ray } = scene.drawn(&view);
        for [x, y] in arm.iter().chain(&workpiece).chain(&ray) {
            assert!((10.0..=310.0).contains(x) && (20.0..=220.0).contains(y), "{x} {y}");
        }
    }
}

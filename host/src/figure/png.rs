//! SVG to PNG, through `resvg`: pure Rust, no library of the system, and the font is in the program,
//! so that a figure has the same bytes on every machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// The largest side, in pixels.
const LARGEST: f64 = 16_384.0;

/// Draws a figure with so many pixels an inch, where its own unit is 1/96 of one.
///
/// # Errors
/// A sentence if the picture is empty or too large.
pub fn encode(svg: &str, dots_per_inch: f64) -> Result<Vec<u8>, String> {
    let mut options = Options { font_family: "DejaVu Sans".to_owned(), ..Options::default() };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options).map_err(|e| e.to_string())?;
    let scale = dots_per_inch / 96.0;
    let size = [tree.size().width(), tree.size().height()].map(|n| (f64::from(n) * scale).ceil());
    if !(size[0] >= 1.0 && size[1] >= 1.0 && size[0] <= LARGEST && size[1] <= LARGEST) {
        return Err(format!("a picture of {} × {} pixels can't be made", size[0], size[1]));
    }
    let pixels = Pixmap::new(size[0] as u32, size[1] as u32);
    let mut pixels = pixels.ok_or("there is no memory for so large a picture")?;
    let transform = Transform::from_scale(scale as f32, scale as f32);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| e.to_string())
}

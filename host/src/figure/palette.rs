//! Colours that stay apart for every kind of colour vision, and in grey where order matters.

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// Colours of a few things without order: Okabe and Ito's, for a light background; black last.
/// (M. Okabe, K. Ito: Color Universal Design, 2008, <https://jfly.uni-koeln.de/color/>.)
pub const CATEGORIES: [Rgb; 8] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [86, 180, 233],
    [230, 159, 0],
    [120, 94, 160],
    [70, 70, 70],
];

/// A continuous palette through evenly spaced colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette(pub &'static [Rgb]);

/// Viridis (S. van der Walt, N. Smith; released under CC0) at seventeen of its 256 places: dark is
/// low. Between them it is linear.
pub const SEQUENTIAL: Palette = Palette(&[
    [68, 1, 84],
    [72, 24, 106],
    [71, 45, 123],
    [66, 64, 134],
    [59, 82, 139],
    [51, 99, 141],
    [44, 114, 142],
    [38, 130, 142],
    [33, 145, 140],
    [31, 160, 136],
    [40, 174, 128],
    [63, 188, 115],
    [94, 201, 98],
    [132, 212, 75],
    [173, 220, 48],
    [216, 226, 25],
    [253, 231, 37],
]);

/// Blue, near white, vermilion: for what has a middle, such as correlations. Thirteen colours whose
/// lightness in Oklab falls evenly from the middle and is the same on both sides (0.97 − 0.57·|t|,
/// hues 255° and 38°).
pub const DIVERGING: Palette = Palette(&[
    [0, 70, 140],
    [23, 97, 179],
    [62, 126, 205],
    [103, 156, 225],
    [147, 186, 237],
    [195, 216, 243],
    [245, 245, 245],
    [241, 205, 193],
    [231, 165, 144],
    [215, 127, 100],
    [192, 91, 59],
    [164, 58, 20],
    [126, 37, 2],
]);

impl Palette {
    /// The colour of a value from 0 to 1; values outside are clamped.
    pub fn at(self, value: f64) -> Rgb {
        let last = self.0.len() - 1;
        let place = value.clamp(0.0, 1.0) * last as f64;
        let below = (place as usize).min(last.saturating_sub(1));
        let rest = place - below as f64;
        let mix = |k: usize| {
            let (a, b) = (f64::from(self.0[below][k]), f64::from(self.0[(below + 1).min(last)][k]));
            (a + (b - a) * rest).round() as u8
        };
        [mix(0), mix(1), mix(2)]
    }
}

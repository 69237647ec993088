/// Lets a number of bits, a tuple struct, be joined with `|` and asked.
macro_rules! bit_set {
    ($name:ident) => {
        impl $name {
            /// Whether all of `flags` are set.
            pub const fn contains(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }
        }

        impl core::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}

pub(crate) use bit_set;

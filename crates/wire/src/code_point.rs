/// An enum of the values of one field, where a value without a name is kept as `Unknown`.
macro_rules! code_points {
    ($(#[$about:meta])* $name:ident($number:ty) { $($(#[$about_value:meta])* $value:ident = $code:expr,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$about_value])* $value,)+
            /// A value without a name in this enum.
            Unknown($number),
        }

        impl From<$number> for $name {
            fn from(code: $number) -> Self {
                match code {
                    $($code => Self::$value,)+
                    unknown => Self::Unknown(unknown),
                }
            }
        }

        impl From<$name> for $number {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$value => $code,)+
                    $name::Unknown(unknown) => unknown,
                }
            }
        }
    };
}

pub(crate) use code_points;
